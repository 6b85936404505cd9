"""Text of the header of a model's C interface. ``NAME`` is its prefix."""

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
 * State is a pair of an input and an output in the same memory. A cache is state that grows along
 * an axis, in memory with room for a capacity: its tensors have the strides of that, and the rows
 * in use before and after the run as extents. An output of which only the run finds the size needs
 * room for the most, which NAME_output_shapes tells and its extents say; NAME_run stores what it
 * has found there, and in strides that are not null. Parallel loops run on threads of this library,
 * which end with its last model; -DIRKIT_NO_THREADS leaves them out, -fopenmp uses OpenMP's.
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

#define NAME_VERSION 4 /* of this interface */

typedef struct NAME NAME;

typedef struct {
    size_t struct_size;       /* sizeof(NAME_options) */
    uint32_t version;         /* NAME_VERSION */
    const void *weights;      /* aligned to 64 bytes and kept while the model lives, or null */
    size_t weights_size;      /* NAME_weights_size(), if weights are given */
    const char *weights_file; /* read instead of the weights inside, or null */
    /* The host's pool, or null: it calls body(data, i, j) for parts of the iterations from begin up
     * to end, in any order and in any threads, each once, and returns 0 when all have returned.
     * A run calls it from its own thread, and several may do so at once. */
    int (*parallel)(void *context, int64_t begin, int64_t end,
                    int (*body)(void *data, int64_t begin, int64_t end), void *data);
    void *parallel_context;
    /* Without a pool of the host's: how many threads a run may use, its own among them; 0 for one
     * for each processor that no other library like this one uses, 1 for none but its own. */
    int32_t threads;
} NAME_options;

typedef struct {
    const char *name;
    DLDataType dtype;
    int32_t ndim;
    const int64_t *shape;       /* -1 where only a call decides */
    const char *const *symbols; /* what decides it, such as "batch"; null for a number */
} NAME_tensor;

typedef struct {
    const char *name;
    int64_t least, most;
} NAME_dim;

typedef struct {
    int32_t input, output;
    int32_t axis;     /* along which a cache grows */
    int64_t capacity; /* rows that a cache has room for; 0 if it is no cache */
} NAME_state;

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
/* The pool of this library, as a pool for the options of another model: parallel = NAME_parallel,
 * with parallel_context null, or a pointer to the int32_t that is the most threads to use. It runs
 * one loop at a time, and has threads while a model of this library lives. */
NAME_API int NAME_parallel(void *context, int64_t begin, int64_t end,
                           int (*body)(void *data, int64_t begin, int64_t end), void *data);
NAME_API const char *NAME_error(void);
/* The last error of a run of this model, in any thread; that of the thread if the model is null. */
NAME_API const char *NAME_model_error(const NAME *model);
/* Compute the shapes of outputs from those of inputs, of which no data is read; shapes[i] has room
 * for the dimensions of output i. */
NAME_API int NAME_output_shapes(NAME *model, const DLTensor *const *inputs,
                                int64_t *const *shapes);

NAME_API int32_t NAME_input_count(void);
NAME_API int32_t NAME_output_count(void);
NAME_API const NAME_tensor *NAME_input(int32_t number);  /* null if there is none */
NAME_API const NAME_tensor *NAME_output(int32_t number);
NAME_API int32_t NAME_dim_count(void);
NAME_API const NAME_dim *NAME_dim_number(int32_t number); /* null if there is none */
NAME_API int32_t NAME_state_count(void);
NAME_API const NAME_state *NAME_state_number(int32_t number);
NAME_API size_t NAME_weights_size(void);
NAME_API uint32_t NAME_version(void);

#ifdef __cplusplus
}
#endif
#endif
"""
