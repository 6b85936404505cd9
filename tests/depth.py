"""How deep the programs are with which tests show that nothing overflows."""

DEEP = 100_000
