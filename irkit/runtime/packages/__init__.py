"""Packages of models: one zip file, not compressed, with a manifest.

Reading order: contents (what a package holds), stored_members (members of a zip file that lie at
an offset a page can be mapped from), package_writer, package_reader, package_report (what
``irkit verify`` says).

A package holds a model for one target or for several; a member that is the same for several is
stored once, and loading takes the first that this machine can run. Parameters lie at a multiple of
4,096 bytes and are mapped, read-only, so loading does not read them. All else is compared with its
SHA-256 before anything is linked, and so are parameters of at most 4 MiB; ``irkit verify`` compares
everything. A package contains machine code and is as trusted as a wheel: load only what you would
install.
"""

from irkit.runtime.packages.contents import (
    PackageContents as PackageContents,
    target_mismatch as target_mismatch,
)
from irkit.runtime.packages.package_reader import (
    contents_of as contents_of,
    open_archive as open_archive,
    read_package as read_package,
    whole_file as whole_file,
)
from irkit.runtime.packages.package_report import (
    ModelReport as ModelReport,
    PackageReport as PackageReport,
    package_report as package_report,
)
from irkit.runtime.packages.package_writer import (
    package_bytes as package_bytes,
    with_others as with_others,
    write_package as write_package,
)
from irkit.runtime.packages.stored_members import (
    add_member as add_member,
    stored_member as stored_member,
)
