"""Programs for devices with threads: kernels, the launches of them, and the host code beside them.

Reading order: lanes (what each lane of a warp does), program (launches as data), legality (what a
device can run), host_text (the host code as text), device_source (OpenCL C and CUDA C files),
device_llvm (PTX, AMDGPU and SPIR-V).
"""
