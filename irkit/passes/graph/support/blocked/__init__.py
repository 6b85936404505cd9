"""Regions of a graph whose channels are cut into blocks of a vector's lanes.

Reading order: orders (where each channel stands), operands (how a form takes its operands),
convolutions, forms (of other operators), shuffles (channel shuffles as an order), regions (what is
chosen).
"""

from irkit.passes.graph.support.blocked.forms import (
    BlockedForms as BlockedForms,
)
from irkit.passes.graph.support.blocked.operands import (
    BlockedForm as BlockedForm,
    BlockedValues as BlockedValues,
    order_of as order_of,
    unblocked as unblocked,
)
from irkit.passes.graph.support.blocked.orders import (
    ChannelOrder as ChannelOrder,
    in_order as in_order,
)
from irkit.passes.graph.support.blocked.regions import (
    BlockedRegions as BlockedRegions,
    is_used_plain as is_used_plain,
)
from irkit.passes.graph.support.blocked.shuffles import (
    Shuffles as Shuffles,
)
