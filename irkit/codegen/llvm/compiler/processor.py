"""Features of a processor as LLVM sees them, implied by its name and the flags beside it.

LLVM does not list them, but it inlines a function only if the caller has every feature of the
callee. So a module with one small callee for each feature gives the answer.
"""

from collections.abc import Sequence

from irkit.codegen.llvm.compiler.library import llvm_binding
from irkit.codegen.llvm.compiler.pass_manager import run_passes

# LLVM uses these only for intrinsics that irkit never emits.
NEVER_USED = frozenset(
    {
        "aes", "clflushopt", "cldemote", "clwb", "clzero", "crc32", "cx8", "enqcmd", "fsgsbase",
        "fxsr", "hreset", "invpcid", "kl", "movdir64b", "movdiri", "movrs", "mwaitx", "pclmul",
        "pconfig", "pku", "prefetchi", "prfchw", "ptwrite", "raoint", "rdpid", "rdpru", "rdrnd",
        "rdseed", "rtm", "sahf", "serialize", "sgx", "sha", "sha512", "shstk", "sm3", "sm4",
        "tsxldtrk", "uintr", "usermsr", "vaes", "vpclmulqdq", "waitpkg", "wbnoinvd", "widekl",
        "xsave", "xsavec", "xsaveopt", "xsaves",
    }
)  # fmt: skip


def effective_features(
    triple: str, cpu: str, flags: Sequence[str], known: Sequence[str]
) -> tuple[str, ...]:
    """Expand flags into the features they imply together, so that their order no longer matters.

    A later flag wins, also over what implies it: ``-avx512f`` switches off ``avx512bw``. Features
    implied by the processor or another flag are added if they are ``known``.
    """
    given = {flag[1:]: flag[0] for flag in flags}
    names = list(dict.fromkeys([*known, *given]))
    present = _present(triple, cpu, flags, names)
    found: list[str] = []
    for name in names:
        if name in present and (name in known or given.get(name) == "+"):
            found.append("+" + name)
        elif name in given:
            found.append(("-" if name in known else given[name]) + name)
    return tuple(found)


def _present(triple: str, cpu: str, flags: Sequence[str], names: Sequence[str]) -> set[str]:
    caller = f'"target-cpu"="{cpu}" "target-features"="{",".join(flags)}"'
    # The baseline of the architecture; "generic" on x86 has less.
    least = "x86-64" if triple.startswith("x86_64") else "generic"
    lines: list[str] = []
    for number, name in enumerate(names):
        callee = f'"target-cpu"="{least}" "target-features"="+{name}"'
        lines += [
            f"define internal i32 @has{number}(ptr %p) {callee} {{",
            "  %x = load volatile i32, ptr %p",
            "  ret i32 %x",
            "}",
            f"define i32 @asks{number}(ptr %p) {caller} {{",
            f"  %x = call i32 @has{number}(ptr %p)",
            "  ret i32 %x",
            "}",
        ]
    module = llvm_binding.parse_assembly("\n".join(lines), llvm_binding.create_context())
    machine = llvm_binding.Target.from_triple(triple).create_target_machine(cpu=cpu)
    run_passes(module, machine, llvm_binding.create_pipeline_tuning_options(speed_level=1))
    return {
        name
        for number, name in enumerate(names)
        if "call " not in str(module.get_function(f"asks{number}"))
    }
