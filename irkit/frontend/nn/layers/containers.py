"""Modules that hold others under numbers or names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from irkit.core import IRKitError
from irkit.frontend.nn.module import Module


class ModuleList(Module):
    """Modules under the names 0, 1, 2, ..."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        for each in modules:
            self.append(each)

    def append(self, module: Module) -> None:
        """Add a module at the end."""
        if not isinstance(module, Module):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's mistake
            raise IRKitError(
                f"{type(self).__name__} holds modules, found a {type(module).__name__}"
            )
        setattr(self, str(len(self)), module)

    def __len__(self) -> int:
        return sum(1 for _ in self.children())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, at: int) -> Module:
        return list(self.children())[at]


class Sequential(ModuleList):
    """Modules that run one after the other."""

    def __init__(self, *modules: Module) -> None:
        super().__init__(modules)

    def forward(self, x: Any) -> Any:
        for each in self:
            x = each(x)
        return x


class ModuleDict(Module):
    """Modules under names."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        for name, each in modules.items():
            setattr(self, name, each)

    def __getitem__(self, name: str) -> Module:
        return dict(self.named_children())[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.named_children())
