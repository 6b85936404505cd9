"""Make a failing sample small.

All that a generator does follows from the numbers it was given, so leaving numbers out and lowering
them makes any kind of sample smaller, and the result is always legal; then passes are left out,
`irkit.debug.reduce` takes loop functions apart, and graphs and models are cut. Candidates that may
crash or hang are judged in a fork. The result is a TOML file that runs again whatever becomes of
the generators.

Reading order: choices (the numbers it was drawn from), forked_judge, graphs, models, texts,
make_small.
"""

from irkit.fuzz.generators.sample_file import (
    parse_sample as parse_sample,
    read_sample as read_sample,
    sample_text as sample_text,
    write_sample as write_sample,
)
from irkit.fuzz.shrink.choices import (
    record_choices as record_choices,
    replay_choices as replay_choices,
    shrink_choices as shrink_choices,
)
from irkit.fuzz.shrink.forked_judge import (
    judge_in_fork as judge_in_fork,
)
from irkit.fuzz.shrink.make_small import (
    make_small as make_small,
)
