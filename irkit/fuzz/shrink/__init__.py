"""What becomes of a sample that is wrong: it is made small, and kept as text. Reading order:
choices, forked, graphs, models, files, smaller, sample_file."""

from irkit.fuzz.generators.sample_file import (
    parse_sample as parse_sample,
    read_sample as read_sample,
    sample_text as sample_text,
    write_sample as write_sample,
)
from irkit.fuzz.shrink.choices import (
    recorded as recorded,
    replayed as replayed,
    shrink_choices as shrink_choices,
)
from irkit.fuzz.shrink.forked_judge import (
    LIMITS as LIMITS,
    Judge as Judge,
    judge_in_fork as judge_in_fork,
)
from irkit.fuzz.shrink.make_small import (
    CANDIDATES as CANDIDATES,
    SmallSample as SmallSample,
    make_small as make_small,
)
