"""Text of what is written beside the C file of a model. ``NAME`` is its prefix."""

EXAMPLE = """\
/* Run NAME on numbers that stand for inputs, and print what it gives. */
#include "NAME.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, DIMS = 16, SIZE = 4 };

static int64_t shapes[2 * MOST][DIMS], strides[2 * MOST][DIMS];

/* A size for a dimension that only a call decides. */
static int64_t open_size(const char *symbol) {
    for (int32_t i = 0; i < NAME_dim_count(); ++i) {
        const NAME_dim *dim = NAME_dim_number(i);
        if (strcmp(dim->name, symbol)) continue;
        return dim->least > SIZE ? dim->least : dim->most < SIZE ? dim->most : SIZE;
    }
    return SIZE;
}

/* Describe a tensor of the shape that shapes[number] has, with room for the capacity of a cache. */
static DLTensor described(const NAME_tensor *wanted, int number, const NAME_state *state) {
    DLTensor made;
    memset(&made, 0, sizeof made);
    made.device.device_type = 1;
    made.ndim = wanted->ndim;
    made.dtype = wanted->dtype;
    made.shape = shapes[number];
    made.strides = strides[number];
    int64_t step = 1;
    for (int32_t axis = wanted->ndim - 1; axis >= 0; --axis) {
        strides[number][axis] = step;
        step *= state && state->capacity && axis == state->axis ? state->capacity
                                                                : shapes[number][axis];
    }
    const size_t count = (size_t)step, bytes = wanted->dtype.bits / 8u;
    made.data = calloc(count + 1, bytes ? bytes : 1);
    if (made.data && wanted->dtype.code == 2 && wanted->dtype.bits == 32) {
        for (size_t i = 0; i < count; ++i) ((float *)made.data)[i] = (float)(i * 37 % 101) / 101.0f;
    }
    return made;
}

static const NAME_state *state_of(int32_t input, int32_t output) {
    for (int32_t i = 0; i < NAME_state_count(); ++i) {
        const NAME_state *state = NAME_state_number(i);
        if (state->input == input || state->output == output) return state;
    }
    return NULL;
}

int main(int argc, char **argv) {
    static DLTensor inputs[MOST], outputs[MOST];
    const DLTensor *in[MOST];
    DLTensor *out[MOST];
    int64_t *found[MOST];
    NAME_options options = {.struct_size = sizeof options, .version = NAME_VERSION};
    if (argc > 1) options.weights_file = argv[1];
    NAME *model = NULL;
    if (NAME_input_count() > MOST || NAME_output_count() > MOST) return 1;
    if (NAME_create(&model, &options)) {
        fprintf(stderr, "%s\\n", NAME_error());
        return 1;
    }
    for (int32_t i = 0; i < NAME_input_count(); ++i) {
        const NAME_tensor *wanted = NAME_input(i);
        if (wanted->ndim > DIMS) return 1;
        for (int32_t axis = 0; axis < wanted->ndim; ++axis) {
            const char *symbol = wanted->symbols[axis];
            shapes[i][axis] = symbol ? open_size(symbol) : wanted->shape[axis];
        }
        inputs[i] = described(wanted, i, state_of(i, -1));
        in[i] = &inputs[i];
    }
    for (int32_t i = 0; i < NAME_output_count(); ++i) {
        found[i] = shapes[MOST + i];
        if (NAME_output(i)->ndim > DIMS) return 1;
    }
    if (NAME_output_shapes(model, in, found)) {
        fprintf(stderr, "%s\\n", NAME_error());
        return 1;
    }
    for (int32_t i = 0; i < NAME_output_count(); ++i) {
        const NAME_state *state = state_of(-1, i);
        outputs[i] = described(NAME_output(i), MOST + i, state);
        if (state) { /* The output lies where the input does. */
            free(outputs[i].data);
            outputs[i].data = inputs[state->input].data;
        }
        out[i] = &outputs[i];
    }
    const int code = NAME_run(model, in, out);
    if (code) fprintf(stderr, "%s\\n", NAME_error());
    for (int32_t i = 0; !code && i < NAME_output_count(); ++i) {
        printf("%s:", NAME_output(i)->name);
        const int is_f32 = outputs[i].dtype.code == 2 && outputs[i].dtype.bits == 32;
        int64_t count = is_f32;
        for (int32_t axis = 0; axis < outputs[i].ndim; ++axis) count *= outputs[i].shape[axis];
        for (int64_t k = 0; k < count && k < 8; ++k) printf(" %g", ((float *)outputs[i].data)[k]);
        puts("");
    }
    for (int32_t i = 0; i < NAME_input_count(); ++i) free(inputs[i].data);
    for (int32_t i = 0; i < NAME_output_count(); ++i) {
        if (!state_of(-1, i)) free(outputs[i].data);
    }
    NAME_destroy(model);
    return code;
}
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.13)
project(NAME C ASM)
set(CMAKE_C_STANDARD 11)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
option(IRKIT_NATIVE "Use all vectors of this machine" ON)
add_library(NAME NAME.c NAME_weights.c SOURCES)
set_target_properties(NAME PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(NAME PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(NAME PRIVATE NAME_WEIGHTS="${CMAKE_CURRENT_SOURCE_DIR}/NAME_weights.bin")
target_compile_options(NAME PRIVATE -O3 -ffp-contract=off -Wall -Wextra)
if(IRKIT_NATIVE)
  target_compile_options(NAME PRIVATE -march=native)
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(NAME PUBLIC m Threads::Threads LIBRARIES)
add_executable(NAME_example main.c)
target_link_libraries(NAME_example NAME)
"""

WEIGHTS = """\
/* The weights of NAME: the bytes of NAME_weights.bin, which the assembler includes. */
#ifndef NAME_WEIGHTS
#define NAME_WEIGHTS "NAME_weights.bin"
#endif

extern const unsigned char NAME_weights[];
__asm__(
#ifdef __APPLE__
    ".const_data\\n"
    ".globl _NAME_weights\\n.private_extern _NAME_weights\\n"
    ".p2align 6\\n_NAME_weights:\\n"
#else
    ".pushsection .rodata\\n"
    ".globl NAME_weights\\n.hidden NAME_weights\\n"
    ".balign 64\\nNAME_weights:\\n"
#endif
    ".incbin \\"" NAME_WEIGHTS "\\"\\n.byte 0\\n"
#ifdef __APPLE__
    ".text\\n"
#else
    ".popsection\\n"
#endif
);
"""
