"""Text of a model's C interface: what a call checks before anything is written, and the run.
``NAME`` is its prefix."""

CALL = """\
static const NAME_tensor *irkit_wanted(int number) {
    return number < IRKIT_INPUTS ? &irkit_inputs[number] : &irkit_outputs[number - IRKIT_INPUTS];
}

static int64_t irkit_room(int64_t at, const int64_t *sizes) {
    return at < 0 ? -1 - at : sizes[at];
}

/* What a dimension is in a call: the most, where the run finds it. */
static int64_t irkit_extent(int number, int32_t axis, const int64_t *sizes) {
    const int64_t *rooms = number < IRKIT_INPUTS ? NULL : irkit_rooms[number - IRKIT_INPUTS];
    if (rooms) return irkit_room(rooms[axis], sizes);
    const int32_t at = irkit_places[number][axis];
    return at < 0 ? irkit_wanted(number)->shape[axis] : sizes[at];
}

/* The state that an input or output is part of, or null. */
static const NAME_state *irkit_state(int number) {
    for (int each = 0; each < IRKIT_STATES; ++each) {
        const NAME_state *state = &irkit_states[each];
        if (number == state->input || number == IRKIT_INPUTS + state->output) return state;
    }
    return NULL;
}

/* Check what a tensor of the caller says of itself. */
static int irkit_described(const DLTensor *given, const NAME_tensor *wanted) {
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
    return NAME_OK;
}

/* Check the shape of a tensor in a call of these sizes. */
static int irkit_shaped(const DLTensor *given, int number, const int64_t *sizes) {
    const NAME_tensor *wanted = irkit_wanted(number);
    for (int32_t axis = 0; axis < wanted->ndim; ++axis) {
        const int64_t extent = irkit_extent(number, axis, sizes);
        if (given->shape[axis] != extent) {
            return irkit_fail(NAME_BAD_ARGUMENT,
                              "%s has extent %" PRId64 " on axis %d; expected %" PRId64,
                              wanted->name, given->shape[axis], (int)axis, extent);
        }
    }
    return NAME_OK;
}

/* Bind the dimensions to the shapes of inputs, compute what depends on them, and check both. */
static int irkit_bind(const DLTensor *const *inputs, int64_t *sizes) {
    if (IRKIT_INPUTS > 0 && !inputs) return irkit_fail(NAME_BAD_ARGUMENT, "inputs are null");
    for (int number = 0; number < IRKIT_INPUTS; ++number) {
        const int code = irkit_described(inputs[number], &irkit_inputs[number]);
        if (code) return code;
    }
    for (int dim = 0; dim < IRKIT_DIMS; ++dim) sizes[dim] = -1;
    for (int number = 0; number < IRKIT_INPUTS; ++number) {
        for (int32_t axis = 0; axis < irkit_inputs[number].ndim; ++axis) {
            const int32_t at = irkit_places[number][axis];
            if (at < 0 || at >= IRKIT_DIMS) continue;
            const int64_t found = inputs[number]->shape[axis];
            const NAME_dim *dim = &irkit_dims[at];
            if (sizes[at] >= 0 && sizes[at] != found) {
                return irkit_fail(NAME_BAD_ARGUMENT,
                                  "dimension %d of %s is %" PRId64 ", but %s is %" PRId64
                                  " in another place",
                                  (int)axis, irkit_inputs[number].name, found, dim->name,
                                  sizes[at]);
            }
            if (found < dim->least || found > dim->most) {
                return irkit_fail(NAME_BAD_ARGUMENT,
                                  "dimension %d of %s is %" PRId64
                                  ", but %s must be from %" PRId64 " to %" PRId64,
                                  (int)axis, irkit_inputs[number].name, found, dim->name,
                                  dim->least, dim->most);
            }
            sizes[at] = found;
        }
    }
    const int32_t refused = irkit_compute(sizes);
    if (refused) return irkit_fail(NAME_BAD_ARGUMENT, "%s", irkit_refusals[refused - 1]);
    for (int number = 0; number < IRKIT_INPUTS; ++number) {
        const int code = irkit_shaped(inputs[number], number, sizes);
        if (code) return code;
    }
    const int64_t memory = IRKIT_MEMORY(sizes);
    if (memory > IRKIT_LIMIT) {
        return irkit_fail(NAME_BAD_ARGUMENT,
                          "a call needs %" PRId64 " bytes for its outputs and intermediate values:"
                          " more than the limit of %" PRId64,
                          memory, (int64_t)IRKIT_LIMIT);
    }
    return NAME_OK;
}

/* Check the memory of a tensor in a call of these sizes, and find its first byte and its size:
 * for a cache those of its capacity. */
static int irkit_check(const DLTensor *given, int number, const int64_t *sizes, void **data,
                       size_t *size) {
    const NAME_tensor *wanted = irkit_wanted(number);
    const NAME_state *state = irkit_state(number);
    const int32_t grown = state && state->capacity ? state->axis : -1;
    const char *name = wanted->name;
    size_t count = 1, room = wanted->dtype.bits / 8u ? wanted->dtype.bits / 8u : 1;
    const size_t width = room;
    int is_apart = 0;
    for (int32_t axis = 0; axis < wanted->ndim; ++axis) {
        const int64_t extent = irkit_extent(number, axis, sizes);
        if (axis == grown && extent > state->capacity) {
            return irkit_fail(NAME_BAD_ARGUMENT,
                              "the cache %s is full: it has %" PRId64
                              " rows along axis %d, and there is room for %" PRId64,
                              name, extent, (int)axis, state->capacity);
        }
        if (axis == grown) is_apart = room > width && extent != state->capacity;
        const int64_t places = axis == grown ? state->capacity : extent;
        count = extent ? count : 0;
        if (__builtin_mul_overflow(room, (size_t)places, &room)) {
            return irkit_fail(NAME_BAD_ARGUMENT, "%s is larger than memory can be", name);
        }
    }
    int64_t step = 1;
    for (int32_t axis = wanted->ndim - 1; axis >= 0 && count; --axis) {
        const int64_t extent = irkit_extent(number, axis, sizes);
        if (given->strides && extent != 1 && given->strides[axis] != step) {
            return irkit_fail(NAME_BAD_ARGUMENT, "%s is not contiguous%s", name,
                              grown < 0 ? "" : ", with room for its capacity");
        }
        step *= axis == grown ? state->capacity : extent;
    }
    if (is_apart && count && !given->strides) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s needs the strides of its capacity", name);
    }
    *size = room;
    *data = irkit_message;
    uintptr_t begin, end;
    if (room && (__builtin_add_overflow((uintptr_t)given->data, given->byte_offset, &begin) ||
                 __builtin_add_overflow(begin, room, &end))) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s ends beyond the last address", name);
    }
    if (room) *data = (char *)given->data + given->byte_offset;
    if (room && !given->data) return irkit_fail(NAME_BAD_ARGUMENT, "%s has no data", name);
    if (room && (uintptr_t)*data % width) {
        return irkit_fail(NAME_BAD_ARGUMENT, "%s is not aligned to its elements", name);
    }
    return NAME_OK;
}

static int irkit_apart(const void *a, size_t a_size, const void *b, size_t b_size) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return !a_size || !b_size || x + a_size <= y || y + b_size <= x;
}

/* Check that outputs have memory of their own, but state that of its input. */
static int irkit_memory(void *const *data, const size_t *bytes) {
    for (int number = IRKIT_INPUTS; number < IRKIT_INPUTS + IRKIT_OUTPUTS; ++number) {
        const NAME_state *state = irkit_state(number);
        for (int other = 0; other < number; ++other) {
            if (state && other == state->input) {
                if (data[other] == data[number]) continue;
                return irkit_fail(NAME_BAD_ARGUMENT,
                                  "%s is written over %s: expected the same memory",
                                  irkit_wanted(number)->name, irkit_wanted(other)->name);
            }
            if (!irkit_apart(data[number], bytes[number], data[other], bytes[other])) {
                return irkit_fail(NAME_BAD_ARGUMENT, "%s shares memory with %s",
                                  irkit_wanted(number)->name, irkit_wanted(other)->name);
            }
        }
    }
    return NAME_OK;
}

int NAME_output_shapes(NAME *model, const DLTensor *const *inputs, int64_t *const *shapes) {
    if (!model) return irkit_fail(NAME_BAD_ARGUMENT, "the model is null");
    int64_t sizes[IRKIT_SIZES + 1] = {0};
    const int code = irkit_bind(inputs, sizes);
    if (code) return irkit_told(model, code);
    for (int out = 0; out < IRKIT_OUTPUTS; ++out) {
        if (!shapes || (irkit_outputs[out].ndim && !shapes[out])) {
            return irkit_told(model, irkit_fail(NAME_BAD_ARGUMENT, "the shape of %s is null",
                                                irkit_outputs[out].name));
        }
    }
    for (int out = 0; out < IRKIT_OUTPUTS; ++out) {
        for (int32_t axis = 0; axis < irkit_outputs[out].ndim; ++axis) {
            shapes[out][axis] = irkit_extent(IRKIT_INPUTS + out, axis, sizes);
        }
    }
    return NAME_OK;
}

/* Store the extents of outputs that the run has found. */
static void irkit_found(DLTensor *const *outputs, const int64_t *sizes) {
    for (int out = 0; out < IRKIT_OUTPUTS; ++out) {
        if (!irkit_rooms[out]) continue;
        int64_t step = 1;
        for (int32_t axis = irkit_outputs[out].ndim - 1; axis >= 0; --axis) {
            const int32_t at = irkit_places[IRKIT_INPUTS + out][axis];
            if (at >= 0) outputs[out]->shape[axis] = sizes[at];
            if (outputs[out]->strides) outputs[out]->strides[axis] = step;
            step *= outputs[out]->shape[axis];
        }
    }
}

/* Tell why a run ended at a dimension that it found. */
static int irkit_stopped(int32_t number, int32_t step, const int64_t *sizes) {
    const char *what = irkit_measured[number].what;
    if (step) irkit_fail(NAME_FAILED, "%s", irkit_measured[number].refused[step - 1]);
    else irkit_fail(NAME_FAILED,
                    "%s makes %" PRId64 " rows, and has room for %" PRId64
                    ": the size of its outputs depends on data, and is limited",
                    what, sizes[irkit_measured[number].at],
                    irkit_room(irkit_measured[number].most, sizes));
    for (int32_t at = 0; irkit_around[at].measured >= 0; ++at) {
        if (irkit_around[at].measured != number) continue;
        irkit_more(", in iteration %" PRId64 " of loop '%s'", sizes[irkit_around[at].at],
                   irkit_around[at].loop);
    }
    irkit_more("%s", irkit_measured[number].state);
    return NAME_FAILED;
}

static int irkit_run(NAME *model, const DLTensor *const *inputs, DLTensor *const *outputs) {
    int64_t sizes[IRKIT_SIZES + 1] = {0};
    void *data[IRKIT_INPUTS + IRKIT_OUTPUTS + 1];
    size_t bytes[IRKIT_INPUTS + IRKIT_OUTPUTS + 1];
    int code = irkit_bind(inputs, sizes);
    if (!code && IRKIT_OUTPUTS > 0 && !outputs) {
        return irkit_fail(NAME_BAD_ARGUMENT, "outputs are null");
    }
    for (int number = 0; !code && number < IRKIT_INPUTS + IRKIT_OUTPUTS; ++number) {
        const int out = number - IRKIT_INPUTS;
        const DLTensor *given = out < 0 ? inputs[number] : outputs[out];
        if (out >= 0) code = irkit_described(given, &irkit_outputs[out]);
        if (out >= 0 && !code) code = irkit_shaped(given, number, sizes);
        if (!code) code = irkit_check(given, number, sizes, &data[number], &bytes[number]);
    }
    if (!code) code = irkit_memory(data, bytes);
    if (code) return code;
    const size_t needed = (size_t)IRKIT_ARENA(sizes);
    const int shared = atomic_flag_test_and_set(&model->busy);
    if (!shared && model->arena_size < needed) {
        free(model->arena);
        model->arena = irkit_aligned(needed);
        model->arena_size = model->arena ? needed : 0;
    }
    unsigned char *arena = shared ? irkit_aligned(needed) : model->arena;
    if (!arena && !shared) atomic_flag_clear(&model->busy);
    if (!arena) return irkit_fail(NAME_NO_MEMORY, "no memory for intermediate values");
    int32_t call = 0;
    const irkit_pool *const before = irkit_host;
    irkit_host = model->pool.run ? &model->pool : NULL;
    const int32_t status =
        irkit_execute(data, data + IRKIT_INPUTS, model->weights, arena, sizes, &call);
    irkit_host = before;
    if (shared) free(arena);
    else atomic_flag_clear(&model->busy);
    if (!status) irkit_found(outputs, sizes);
    if (!status) return NAME_OK;
    if (status == IRKIT_BAD_SIZE) {
        return irkit_fail(NAME_BAD_ARGUMENT, "kernel %s has a size that 64 bits do not hold%s",
                          irkit_calls[call].node, irkit_calls[call].state);
    }
    if (status <= IRKIT_MEASURED) return irkit_stopped(call, IRKIT_MEASURED - status, sizes);
    if (status == -1) {
        return irkit_fail(NAME_NO_MEMORY, "no memory in kernel %s%s", irkit_calls[call].node,
                          irkit_calls[call].state);
    }
    if (status == IRKIT_HOST) {
        return irkit_fail(NAME_FAILED, "the host's pool did not run kernel %s%s",
                          irkit_calls[call].node, irkit_calls[call].state);
    }
    return irkit_fail(NAME_FAILED, "kernel %s stopped at assertion %d: %s%s",
                      irkit_calls[call].node, (int)status, irkit_calls[call].stops[status - 1],
                      irkit_calls[call].state);
}

int NAME_run(NAME *model, const DLTensor *const *inputs, DLTensor *const *outputs) {
    if (!model) return irkit_fail(NAME_BAD_ARGUMENT, "the model is null");
    return irkit_told(model, irkit_run(model, inputs, outputs));
}
"""
