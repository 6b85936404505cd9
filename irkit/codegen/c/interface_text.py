"""Text of a model's C interface: what is the same in every model. ``NAME`` is its prefix."""

HEADER = """\
/* NAME: a compiled model, written by irkit. It needs the C library only.
 *
 *   NAME *model = NULL;
 *   if (NAME_create(&model, NULL)) { puts(NAME_error()); return 1; }
 *   if (NAME_run(model, inputs, outputs)) puts(NAME_error());
 *   NAME_destroy(model);
 *
 * Tensors are DLPack 1.0, on the CPU, contiguous; strides may be null, byte_offset counts. Several
 * threads may run one model at the same time. NAME_error() is about the last call of its thread.
 */
#ifndef NAME_H
#define NAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
#ifndef IRKIT_DLPACK
#define IRKIT_DLPACK
/* The part of dlpack.h that is used here; include yours first to use that. */
typedef struct { int32_t device_type; int32_t device_id; } DLDevice; /* CPU: type 1 */
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
enum { IRKIT_INT = 0, IRKIT_UINT = 1, IRKIT_FLOAT = 2, IRKIT_BFLOAT = 4, IRKIT_BOOL = 6 };
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;
#endif
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define NAME_API
#else
#define NAME_API __attribute__((visibility("default")))
#endif

#define NAME_VERSION 1 /* of this interface */

typedef struct NAME NAME;

typedef struct {
    size_t struct_size;       /* sizeof(NAME_options) */
    uint32_t version;         /* NAME_VERSION */
    const void *weights;      /* aligned to 64 bytes and kept while the model lives, or null */
    size_t weights_size;      /* NAME_weights_size(), if weights are given */
    const char *weights_file; /* read instead of the weights inside, or null */
} NAME_options;

typedef struct {
    const char *name;
    DLDataType dtype;
    int32_t ndim;
    const int64_t *shape;
} NAME_tensor;

enum {
    NAME_OK = 0,
    NAME_BAD_ARGUMENT = 1,
    NAME_NO_MEMORY = 2,
    NAME_NO_WEIGHTS = 3,
    NAME_FAILED = 4
};

/* Make a model; options may be null. Each function returns NAME_OK or another of the numbers. */
NAME_API int NAME_create(NAME **model, const NAME_options *options);
/* Compute all outputs into the memory of the caller, in the order of NAME_output. */
NAME_API int NAME_run(NAME *model, const DLTensor *const *inputs, DLTensor *const *outputs);
NAME_API void NAME_destroy(NAME *model); /* null is allowed */
NAME_API const char *NAME_error(void);

NAME_API int32_t NAME_input_count(void);
NAME_API int32_t NAME_output_count(void);
NAME_API const NAME_tensor *NAME_input(int32_t number);  /* null if there is none */
NAME_API const NAME_tensor *NAME_output(int32_t number);
NAME_API size_t NAME_weights_size(void);
NAME_API uint32_t NAME_version(void);

#ifdef __cplusplus
}
#endif
#endif
"""

INCLUDES = """\
#include "NAME.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
"""

INTERFACE = """\
struct NAME {
    const unsigned char *weights;
    void *own_weights;
    unsigned char *arena;
    atomic_flag busy;
};

static _Thread_local char irkit_message[256];

static int irkit_fail(int code, const char *form, ...) {
    va_list values;
    va_start(values, form);
    vsnprintf(irkit_message, sizeof irkit_message, form, values);
    va_end(values);
    return code;
}

static void *irkit_aligned(size_t size) {
    return aligned_alloc(64, (size + 127) / 64 * 64);
}

static int irkit_read_weights(NAME *model, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return irkit_fail(NAME_NO_WEIGHTS, "the weights %s cannot be opened", path);
    model->own_weights = irkit_aligned(IRKIT_WEIGHTS);
    if (!model->own_weights) {
        fclose(file);
        return irkit_fail(NAME_NO_MEMORY, "no memory for the weights");
    }
    const size_t got = fread(model->own_weights, 1, IRKIT_WEIGHTS, file);
    const int more = fgetc(file) != EOF;
    fclose(file);
    model->weights = model->own_weights;
    if (got == IRKIT_WEIGHTS && !more) return NAME_OK;
    return irkit_fail(NAME_NO_WEIGHTS, "%s is not the file of weights: expected %zu bytes", path,
                      (size_t)IRKIT_WEIGHTS);
}

static int irkit_set_weights(NAME *model, const NAME_options *options) {
    if (options && options->weights) {
        if (options->weights_size != IRKIT_WEIGHTS || (uintptr_t)options->weights % 64) {
            return irkit_fail(NAME_BAD_ARGUMENT, "weights: expected %zu bytes, aligned to 64",
                              (size_t)IRKIT_WEIGHTS);
        }
        model->weights = options->weights;
        return NAME_OK;
    }
    if (options && options->weights_file) return irkit_read_weights(model, options->weights_file);
    model->weights = NAME_weights;
    return NAME_OK;
}

int NAME_create(NAME **model, const NAME_options *options) {
    if (!model) return irkit_fail(NAME_BAD_ARGUMENT, "the place for the model is null");
    *model = NULL;
    if (options && options->struct_size != sizeof *options) {
        return irkit_fail(NAME_BAD_ARGUMENT, "options have struct_size %zu; expected %zu",
                          options->struct_size, sizeof *options);
    }
    if (options && options->version != NAME_VERSION) {
        return irkit_fail(NAME_BAD_ARGUMENT, "options have version %" PRIu32 "; expected %d",
                          options->version, NAME_VERSION);
    }
    NAME *made = calloc(1, sizeof *made);
    if (!made) return irkit_fail(NAME_NO_MEMORY, "no memory for the model");
    atomic_flag_clear(&made->busy);
    made->arena = irkit_aligned(IRKIT_ARENA);
    int code = NAME_OK;
    if (!made->arena) code = irkit_fail(NAME_NO_MEMORY, "no memory for intermediate values");
    if (!code) code = irkit_set_weights(made, options);
    if (code) {
        NAME_destroy(made);
        return code;
    }
    *model = made;
    return NAME_OK;
}

void NAME_destroy(NAME *model) {
    if (!model) return;
    free(model->own_weights);
    free(model->arena);
    free(model);
}

const char *NAME_error(void) { return irkit_message; }
size_t NAME_weights_size(void) { return IRKIT_WEIGHTS; }
uint32_t NAME_version(void) { return NAME_VERSION; }
int32_t NAME_input_count(void) { return IRKIT_INPUTS; }
int32_t NAME_output_count(void) { return IRKIT_OUTPUTS; }

const NAME_tensor *NAME_input(int32_t number) {
    return number >= 0 && number < IRKIT_INPUTS ? &irkit_inputs[number] : NULL;
}

const NAME_tensor *NAME_output(int32_t number) {
    return number >= 0 && number < IRKIT_OUTPUTS ? &irkit_outputs[number] : NULL;
}

/* Check a tensor of the caller, and find the first byte of its data and its size. */
static int irkit_check(const DLTensor *given, const NAME_tensor *wanted, void **data,
                       size_t *size) {
    const char *name = wanted->name;
    if (!given) return irkit_fail(NAME_BAD_ARGUMENT, "%s is null", name);
    if (given->device.device_type != 1) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s is on device type %d; expected the CPU, 1", name,
                          (int)given->device.device_type);
    }
    const DLDataType type = given->dtype;
    if (type.code != wanted->dtype.code || type.bits != wanted->dtype.bits || type.lanes != 1) {
        return irkit_fail(NAME_BAD_ARGUMENT,
                          "%s has type code %d with %d bits; expected code %d with %d bits", name,
                          (int)type.code, (int)type.bits, (int)wanted->dtype.code,
                          (int)wanted->dtype.bits);
    }
    if (given->ndim != wanted->ndim) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s has %d dimensions; expected %d", name,
                          (int)given->ndim, (int)wanted->ndim);
    }
    if (wanted->ndim && !given->shape) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s has no shape", name);
    }
    size_t count = 1;
    for (int32_t axis = 0; axis < wanted->ndim; ++axis) {
        if (given->shape[axis] != wanted->shape[axis]) {
            return irkit_fail(NAME_BAD_ARGUMENT,
                              "%s has extent %" PRId64 " on axis %d; expected %" PRId64, name,
                              given->shape[axis], (int)axis, wanted->shape[axis]);
        }
        count *= (size_t)wanted->shape[axis];
    }
    int64_t step = 1;
    for (int32_t axis = wanted->ndim - 1; axis >= 0 && given->strides && count; --axis) {
        if (wanted->shape[axis] != 1 && given->strides[axis] != step) {
            return irkit_fail(NAME_BAD_ARGUMENT, "%s is not contiguous", name);
        }
        step *= wanted->shape[axis];
    }
    const size_t width = type.bits / 8u ? type.bits / 8u : 1;
    *size = count * width;
    *data = count ? (char *)given->data + given->byte_offset : irkit_message;
    if (count && !given->data) return irkit_fail(NAME_BAD_ARGUMENT, "%s has no data", name);
    if (count && (uintptr_t)*data % width) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s is not aligned to its elements", name);
    }
    return NAME_OK;
}

static int irkit_apart(const void *a, size_t a_size, const void *b, size_t b_size) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return !a_size || !b_size || x + a_size <= y || y + b_size <= x;
}

int NAME_run(NAME *model, const DLTensor *const *inputs, DLTensor *const *outputs) {
    if (!model) return irkit_fail(NAME_BAD_ARGUMENT, "the model is null");
    if (IRKIT_INPUTS && !inputs) return irkit_fail(NAME_BAD_ARGUMENT, "inputs are null");
    if (IRKIT_OUTPUTS && !outputs) return irkit_fail(NAME_BAD_ARGUMENT, "outputs are null");
    void *data[IRKIT_INPUTS + IRKIT_OUTPUTS + 1];
    size_t sizes[IRKIT_INPUTS + IRKIT_OUTPUTS + 1];
    for (int number = 0; number < IRKIT_INPUTS + IRKIT_OUTPUTS; ++number) {
        const int out = number - IRKIT_INPUTS;
        const DLTensor *given = out < 0 ? inputs[number] : outputs[out];
        const NAME_tensor *wanted = out < 0 ? &irkit_inputs[number] : &irkit_outputs[out];
        const int code = irkit_check(given, wanted, &data[number], &sizes[number]);
        if (code) return code;
        for (int other = 0; out >= 0 && other < number; ++other) {
            if (!irkit_apart(data[number], sizes[number], data[other], sizes[other])) {
                return irkit_fail(NAME_BAD_ARGUMENT, "%s shares memory with another tensor",
                                  wanted->name);
            }
        }
    }
    const int shared = atomic_flag_test_and_set(&model->busy);
    unsigned char *arena = shared ? irkit_aligned(IRKIT_ARENA) : model->arena;
    if (!arena) return irkit_fail(NAME_NO_MEMORY, "no memory for intermediate values");
    const char *failed = "";
    const int32_t status = irkit_execute(data, data + IRKIT_INPUTS, model->weights, arena, &failed);
    if (shared) free(arena);
    else atomic_flag_clear(&model->busy);
    if (status == -1) return irkit_fail(NAME_NO_MEMORY, "no memory in kernel %s", failed);
    if (status) {
        return irkit_fail(NAME_FAILED, "kernel %s stopped at assertion %d", failed, (int)status);
    }
    return NAME_OK;
}
"""

EXAMPLE = """\
/* Run NAME on numbers that stand for inputs, and print what it gives. */
#include "NAME.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DLTensor tensor(const NAME_tensor *wanted) {
    DLTensor made;
    size_t count = 1;
    memset(&made, 0, sizeof made);
    for (int32_t axis = 0; axis < wanted->ndim; ++axis) count *= (size_t)wanted->shape[axis];
    const size_t size = count * (wanted->dtype.bits / 8u ? wanted->dtype.bits / 8u : 1);
    made.data = calloc(size + 1, 1);
    made.device.device_type = 1;
    made.ndim = wanted->ndim;
    made.dtype = wanted->dtype;
    made.shape = (int64_t *)wanted->shape;
    if (wanted->dtype.code == 2 && wanted->dtype.bits == 32) {
        for (size_t i = 0; i < count; ++i) ((float *)made.data)[i] = (float)(i * 37 % 101) / 101.0f;
    }
    return made;
}

int main(int argc, char **argv) {
    enum { MOST = 256 };
    static DLTensor inputs[MOST], outputs[MOST];
    const DLTensor *in[MOST];
    DLTensor *out[MOST];
    NAME_options options = {sizeof options, NAME_VERSION, NULL, 0, argc > 1 ? argv[1] : NULL};
    NAME *model = NULL;
    if (NAME_input_count() > MOST || NAME_output_count() > MOST) return 1;
    if (NAME_create(&model, &options)) {
        fprintf(stderr, "%s\\n", NAME_error());
        return 1;
    }
    for (int32_t i = 0; i < NAME_input_count(); ++i) {
        inputs[i] = tensor(NAME_input(i));
        in[i] = &inputs[i];
    }
    for (int32_t i = 0; i < NAME_output_count(); ++i) {
        outputs[i] = tensor(NAME_output(i));
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
    for (int32_t i = 0; i < NAME_output_count(); ++i) free(outputs[i].data);
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
add_library(NAME NAME.c NAME_weights.c)
set_target_properties(NAME PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
target_include_directories(NAME PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(NAME PRIVATE NAME_WEIGHTS="${CMAKE_CURRENT_SOURCE_DIR}/NAME_weights.bin")
target_compile_options(NAME PRIVATE -O3 -ffp-contract=off -Wall -Wextra)
if(IRKIT_NATIVE)
  target_compile_options(NAME PRIVATE -march=native)
endif()
target_link_libraries(NAME PUBLIC m)
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
