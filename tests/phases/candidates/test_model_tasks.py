from irkit.graph import parse_module
from irkit.phases import model_tasks

TEXT = """
@attrs(inputs=("x", "w"))
@attrs(outputs=("d",))
def main(x: f32[64, 64], w: f32[64, 64]):
    a: f32[64, 64] = matmul(x, w)
    b: f32[64, 64] = matmul(a, w)
    c: f32[64, 64] = transpose(b, axes=(1, 0))
    d: f32[64, 64] = matmul(c, w)
    return d
"""


def test_each_kernel_is_a_task_once_weighted_by_its_calls() -> None:
    tasks = model_tasks(parse_module(TEXT))
    assert tasks[0].name == "matmul"
    assert len({each.hash for each in tasks}) == len(tasks)
    assert tasks[0].weight > 2 * sum(each.weight for each in tasks[1:])
    assert tasks[0].flop == 2 * 64**3


def test_a_profile_decides_the_weights() -> None:
    module = parse_module(TEXT)
    name = model_tasks(module)[-1].name
    weighed = model_tasks(module, seconds={name: 5.0})
    assert (weighed[0].name, weighed[0].weight) == (name, 5.0)
