"""Templates: schedules with knobs, in AutoTVM's words.

Reading order: knobs (what one can decide), config (``cfg``: the knobs of a template and their
values), template (the decorator, and templates by name).
"""

from irkit.tune.templates.config import (
    Config as Config,
)
from irkit.tune.templates.knobs import (
    AnnotateKnob as AnnotateKnob,
    Knob as Knob,
    OtherKnob as OtherKnob,
    ReorderKnob as ReorderKnob,
    SplitKnob as SplitKnob,
)
from irkit.tune.templates.template import (
    Template as Template,
    Templated as Templated,
    load_template as load_template,
    template as template,
)
