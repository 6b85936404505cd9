"""Where values lie in memory.

Reading order: shared_memory (values that lie in others), memory_plan (offsets in one arena).
"""

from irkit.graph.memory.memory_plan import (
    MemoryPlan as MemoryPlan,
    MemoryRoom as MemoryRoom,
    MemorySlot as MemorySlot,
    memory_plan as memory_plan,
    recorded_plan as recorded_plan,
    without_plan as without_plan,
)
from irkit.graph.memory.shared_memory import (
    MemoryPart as MemoryPart,
    SharedMemory as SharedMemory,
    shared_memory as shared_memory,
)
