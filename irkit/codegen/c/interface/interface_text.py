"""Text of a model's C interface: make a model, end it, and ask for what it takes. ``NAME`` is its
prefix."""

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
    size_t arena_size;
    atomic_flag busy;
    irkit_pool pool;
    int32_t threads;
    char message[512];
    atomic_flag telling;
};

static _Thread_local char irkit_message[512];

static int irkit_fail(int code, const char *form, ...) {
    va_list values;
    va_start(values, form);
    vsnprintf(irkit_message, sizeof irkit_message, form, values);
    va_end(values);
    return code;
}

/* Add to the message. */
static void irkit_more(const char *form, ...) {
    const size_t used = strlen(irkit_message);
    va_list values;
    va_start(values, form);
    vsnprintf(irkit_message + used, sizeof irkit_message - used, form, values);
    va_end(values);
}

/* Keep the error of a call of a model. */
static int irkit_told(NAME *model, int code) {
    if (!code || !model) return code;
    for (int32_t tries = 0; atomic_flag_test_and_set(&model->telling); ++tries) {
        if (tries > 100000000) return code; /* After a fork, who held it may not be here. */
    }
    memcpy(model->message, irkit_message, sizeof model->message);
    atomic_flag_clear(&model->telling);
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
    if (options && options->threads < 0) {
        return irkit_fail(NAME_BAD_ARGUMENT, "options have %" PRId32 " threads; expected 0 or more",
                          options->threads);
    }
    NAME *made = calloc(1, sizeof *made);
    if (!made) return irkit_fail(NAME_NO_MEMORY, "no memory for the model");
    atomic_flag_clear(&made->busy);
    atomic_flag_clear(&made->telling);
    irkit_one_more();
    made->threads = options ? options->threads : 0;
#ifdef IRKIT_THREADS
    made->pool = (irkit_pool){irkit_own_run, &made->threads};
#endif
    if (options && options->parallel) {
        made->pool = (irkit_pool){options->parallel, options->parallel_context};
    }
    made->arena_size = IRKIT_FIRST_ARENA;
    made->arena = irkit_aligned(made->arena_size);
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
    irkit_one_less();
    free(model->own_weights);
    free(model->arena);
    free(model);
}

const char *NAME_error(void) { return irkit_message; }

const char *NAME_model_error(const NAME *model) {
    return model ? model->message : irkit_message;
}

size_t NAME_weights_size(void) { return IRKIT_WEIGHTS; }
uint32_t NAME_version(void) { return NAME_VERSION; }
int32_t NAME_input_count(void) { return IRKIT_INPUTS; }
int32_t NAME_output_count(void) { return IRKIT_OUTPUTS; }
int32_t NAME_dim_count(void) { return IRKIT_DIMS; }
int32_t NAME_state_count(void) { return IRKIT_STATES; }

const NAME_dim *NAME_dim_number(int32_t number) {
    return number >= 0 && number < IRKIT_DIMS ? &irkit_dims[number] : NULL;
}

const NAME_state *NAME_state_number(int32_t number) {
    return number >= 0 && number < IRKIT_STATES ? &irkit_states[number] : NULL;
}

const NAME_tensor *NAME_input(int32_t number) {
    return number >= 0 && number < IRKIT_INPUTS ? &irkit_inputs[number] : NULL;
}

const NAME_tensor *NAME_output(int32_t number) {
    return number >= 0 && number < IRKIT_OUTPUTS ? &irkit_outputs[number] : NULL;
}
"""
