"""The pool of threads of a model's library: same results, and threads that come and go."""

import ctypes
import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.runtime import build_library, write_sources
from tests.codegen.c.build import needs_compiler
from tests.runtime.deploy.dlpack import VERSION, CModel, Options, Parallel
from tests.runtime.deploy.test_host_pool import given, network

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pools")
    model = irkit.compile(network(), target="c")
    for name in ("one", "two"):
        build_library(model, made / f"lib{name}.so", "shared", name=name)
    return made


def options(threads: int = 0, parallel: Parallel | None = None) -> Options:
    size = ctypes.sizeof(Options)
    return Options(size, VERSION, None, 0, None, parallel or Parallel(), None, threads)


def workers(expected: int) -> bool:
    """Return True if there are that many, after a moment: a thread names itself when it runs, and
    one that has ended is listed a little longer."""
    return any(time.sleep(0.01 * (turn > 0)) or _workers() == expected for turn in range(200))


def _workers() -> int:
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    return sum(name.startswith("irkit-pool") for name in names)


def test_threads_start_with_the_first_loop_and_end_with_the_last_model(folder: Path) -> None:
    alone = CModel(folder / "libone.so", "one", options(1))
    wanted = alone.run(given())
    assert workers(0)
    four, five = (CModel(folder / "libone.so", "one", options(n)) for n in (4, 5))
    assert workers(0)
    for model, count in ((four, 3), (five, 4), (four, 4)):
        found = model.run(given())
        assert workers(count)
        for name, array in wanted.items():
            assert array.any()
            np.testing.assert_array_equal(found[name], array)
    for model in (five, alone):
        model.close()
        assert workers(4)
    four.close()
    assert workers(0)
    again = CModel(folder / "libone.so", "one", options(3))
    again.run(given())
    assert workers(2)
    again.close()


def test_two_libraries_have_no_more_threads_than_processors(folder: Path) -> None:
    one, two = CModel(folder / "libone.so", "one"), CModel(folder / "libtwo.so", "two")
    wanted, found = one.run(given()), two.run(given())
    assert workers(len(os.sched_getaffinity(0)) - 1)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
    one.close()
    two.close()


def test_one_library_lends_its_pool_to_another(folder: Path) -> None:
    one = CModel(folder / "libone.so", "one", options(3))
    lent = ctypes.cast(one.library.one_parallel, Parallel)
    two = CModel(folder / "libtwo.so", "two", options(0, lent))
    wanted = one.run(given())
    assert workers(2)
    found = two.run(given())
    assert workers(max(2, len(os.sched_getaffinity(0)) - 1))
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
    one.close()
    assert workers(0)
    np.testing.assert_array_equal(
        next(iter(two.run(given()).values())), next(iter(wanted.values()))
    )
    assert workers(0)
    two.close()


def test_several_threads_run_models_at_once(folder: Path) -> None:
    alone = CModel(folder / "libone.so", "one", options(1))
    wanted = next(iter(alone.run(given()).values()))
    models = [CModel(folder / "libone.so", "one", options(3)) for _ in range(2)]
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda n: models[n % 2].run(given()), range(12)):
            np.testing.assert_array_equal(next(iter(found.values())), wanted)
    assert workers(2)
    for each in (alone, *models):
        each.close()
    assert workers(0)


def test_a_negative_number_of_threads_is_refused(folder: Path) -> None:
    made = CModel(folder / "libone.so", "one", options(-1))
    assert made.code == 1
    assert "-1 threads" in made.error


def test_a_child_after_a_fork_has_threads_of_its_own(folder: Path) -> None:
    program = f"""
        import os, sys, warnings
        warnings.simplefilter("ignore")
        sys.path.insert(0, {str(Path(irkit.__file__).parents[1])!r})
        from tests.runtime.deploy.test_own_pool import *
        model = CModel({str(folder / "libone.so")!r}, "one", options(3))
        wanted = next(iter(model.run(given()).values()))
        for turn in range(3):
            pid = os.fork()
            if not pid:
                before = workers(0)
                same = np.array_equal(next(iter(model.run(given()).values())), wanted)
                after = workers(2)
                model.close()
                os._exit(0 if before and same and after and workers(0) else 1)
            assert os.waitpid(pid, 0)[1] == 0
        assert workers(2)
        assert np.array_equal(next(iter(model.run(given()).values())), wanted)
        model.close()
        print("well")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.stdout == "well\n", done.stderr


MAIN = """
#include "one.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float x[1024 * 1024], wanted[1024 * 1024];
static int64_t shape[2] = {1024, 1024};

static int run(one *model, float *out) {
    DLTensor in = {x, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}, made = in;
    made.data = out;
    const DLTensor *inputs[1] = {&in};
    DLTensor *outputs[1] = {&made};
    return one_run(model, inputs, outputs);
}

static void *use(void *given) {
    float *out = malloc(sizeof wanted);
    long wrong = 0;
    for (int turn = 0; turn < 3; ++turn) {
        one_options options = {.struct_size = sizeof options, .version = one_VERSION, .threads = 3};
        one *model = NULL;
        if (given) model = given;
        else if (one_create(&model, &options)) return "x";
        wrong += run(model, out) != 0 || memcmp(out, wanted, sizeof wanted);
        if (!given) one_destroy(model);
    }
    free(out);
    return wrong ? "x" : NULL;
}

int main(void) {
    for (int at = 0; at < 1024 * 1024; ++at) x[at] = (float)(at * 37 % 101) / 50.0f;
    one_options options = {.struct_size = sizeof options, .version = one_VERSION, .threads = 1};
    one *alone = NULL, *shared = NULL;
    if (one_create(&alone, &options) || run(alone, wanted)) return 1;
    options.threads = 4;
    if (one_create(&shared, &options)) return 2;
    one_destroy(alone);
    pthread_t threads[4];
    for (int at = 0; at < 4; ++at) pthread_create(&threads[at], NULL, use, at % 2 ? shared : NULL);
    int code = 0;
    for (int at = 0; at < 4; ++at) {
        void *found = NULL;
        pthread_join(threads[at], &found);
        if (found) code = 3;
    }
    one_destroy(shared);
    return code;
}
"""


@pytest.mark.long
@pytest.mark.parametrize("checker", ["address,undefined", "thread"])
def test_sanitizers_find_nothing_wrong_with_the_pool(checker: str, tmp_path: Path) -> None:
    write_sources(irkit.compile(network(), target="c"), tmp_path, name="one")
    (tmp_path / "use.c").write_text(MAIN)
    flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-fsanitize={checker}"]
    sources = ["use.c", "one.c", "one_weights.c"]
    built = subprocess.run(
        ["gcc", *flags, "-pthread", "-o", "use", *sources, "-lm"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    if "cannot find" in built.stderr:
        pytest.skip("there is no library of this sanitizer")
    assert built.returncode == 0, built.stderr[:3000]
    ran = subprocess.run(
        ["setarch", "-R", "./use"],  # TSan wants addresses that are not random.
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1", "ASAN_OPTIONS": "detect_leaks=1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[:3000]
