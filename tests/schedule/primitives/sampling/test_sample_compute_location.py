"""sample_compute_location: a legal loop for compute_at is drawn."""

from irkit.schedule import Schedule
from tests.schedule.kernels import chain


def test_a_compute_location_is_a_loop_of_the_consumer_or_the_root() -> None:
    places = set[str]()
    for seed in range(30):
        sch = Schedule(chain(16), seed=seed)
        place = sch.sample_compute_location(sch.get_block("B"))
        places.add("root" if place is None else place.var.name)
    assert places == {"root", "i"}
