// SPDX-License-Identifier: Apache-2.0
// Runs of a store, one line each.
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/json.h"
#include "common/strbuf.h"
#include "report/suspects.h"
#include "suspects/report.h"
#include "suspects/sites.h"
#include "suspects/store.h"

enum { FRAMES_SHOWN = 6 };

// The name of a function that some site is in; NULL where it is not known.
static const char *function_name(const struct suspects_sites *sites,
                                 const struct suspects_frame *frame)
{
    const struct suspects_sites_module *module =
        sites ? suspects_sites_find(sites, frame->module_id) : NULL;

    for (uint32_t s = 0; module && s < module->site_count; s++)
        if (module->sites[s].function == frame->function)
            return suspects_site_string(module, module->sites[s].function_name);
    return NULL;
}

static void append_frame(struct strbuf *out, const struct suspects_frame *frame,
                         const struct suspects_sites *sites)
{
    const char *name = function_name(sites, frame);

    if (frame->module_id == 0)
        strbuf_append(out, "...");
    else if (name)
        strbuf_append_escaped(out, name);
    else
        strbuf_printf(out, "0x%llx:%u", (unsigned long long)frame->module_id, frame->function);
}

static void append_end(struct strbuf *out, const struct store_run *run)
{
    const char *name = run->signal ? sigabbrev_np((int)run->signal) : NULL;

    if (name)
        strbuf_printf(out, "SIG%-7s", name);
    else if (run->signal)
        strbuf_printf(out, "signal %-3u", run->signal);
    else
        strbuf_printf(out, "exit %-5u", run->exit_status);
}

static void append_time(struct strbuf *out, uint64_t nanoseconds)
{
    time_t seconds = (time_t)(nanoseconds / 1000000000);
    struct tm local;
    char text[32];

    if (localtime_r(&seconds, &local) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local) > 0)
        strbuf_append(out, text);
    else
        strbuf_append(out, "?");
}

void suspects_append_run(struct strbuf *out, const struct store_run *run,
                         const struct suspects_sites *sites)
{
    for (size_t i = 0; i < 6; i++)
        strbuf_printf(out, "%02x", run->run_id[i]);
    strbuf_printf(out, "  %-7s  ", suspects_outcome_name((enum suspects_outcome)run->outcome));
    append_end(out, run);
    strbuf_append(out, "  ");
    append_time(out, run->start);
    strbuf_printf(out, "  1/%llu", (unsigned long long)run->rate);
    for (uint32_t f = 0; f < run->frame_count && f < FRAMES_SHOWN; f++) {
        strbuf_append(out, f ? " < " : "  ");
        append_frame(out, &run->frames[f], sites);
    }
    if (run->frame_count > FRAMES_SHOWN)
        strbuf_printf(out, " < %u more", run->frame_count - FRAMES_SHOWN);
}

json_t *suspects_run_json(const struct store_run *run, const struct suspects_sites *sites)
{
    json_t *object = json_object(), *frames = json_array();
    _cleanup_free_ char *id = suspects_build_id(run->run_id, sizeof(run->run_id));

    json_set(object, "run_id", json_text(id));
    json_set(object, "outcome",
             json_string(suspects_outcome_name((enum suspects_outcome)run->outcome)));
    json_set(object, "signal", json_integer(run->signal));
    json_set(object, "exit_status", json_integer(run->exit_status));
    json_set(object, "rate", json_integer((json_int_t)run->rate));
    json_set(object, "start", json_integer((json_int_t)run->start));
    for (uint32_t f = 0; f < run->frame_count; f++) {
        const struct suspects_frame *frame = &run->frames[f];
        json_t *item = frame->module_id ? json_object() : json_null();
        const char *name = function_name(sites, frame);

        if (frame->module_id) {
            json_set(item, "module", json_address(frame->module_id));
            json_set(item, "function_index", json_integer(frame->function));
            json_set(item, "node",
                     frame->node == SUSPECTS_NONE ? json_null() : json_integer(frame->node));
            json_set(item, "function", json_text(name));
        }
        json_push(frames, item);
    }
    json_set(object, "frames", frames);
    return object;
}
