// SPDX-License-Identifier: Apache-2.0
// Predictors as text; see suspects.h.
#include "report/suspects.h"

#include <math.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/color.h"
#include "common/strbuf.h"
#include "report/source.h"
#include "suspects/report.h"
#include "suspects/sites.h"
#include "suspects/store.h"

// ---- Pieces

const char *suspects_kind_name(uint32_t kind)
{
    static const char *const names[SUSPECTS_KIND_COUNT] = {"?",     "branch", "return", "pair",
                                                           "float", "entry",  "watch"};

    return kind < SUSPECTS_KIND_COUNT ? names[kind] : "?";
}

char *suspects_words(const struct predictor *predictor)
{
    struct strbuf words = STRBUF_INIT;

    suspects_predicate_words(predictor->kind, predictor->predicate, predictor->left,
                             predictor->right, &words);
    return strbuf_steal(&words);
}

char *suspects_build_id(const uint8_t *bytes, uint32_t length)
{
    struct strbuf text = STRBUF_INIT;

    for (uint32_t i = 0; i < length; i++)
        strbuf_printf(&text, "%02x", bytes[i]);
    return strbuf_steal(&text);
}

const char *suspects_condition(const struct predictor *predictor)
{
    static const char *const operators[7] = {NULL, "<", "==", ">", ">=", "!=", "<="};
    const uint32_t needed = SUSPECTS_LEFT_IS_VARIABLE | SUSPECTS_RIGHT_IS_CONSTANT;
    uint32_t operator= predictor->operator;

    if ((predictor->flags & needed) != needed)
        return NULL;
    switch (predictor->kind) {
    case SUSPECTS_PAIR:
        return predictor->predicate < 6 ? operators[1 + predictor->predicate] : NULL;
    case SUSPECTS_BRANCH:
    case SUSPECTS_WATCH:
        if (operator== SUSPECTS_NO_OPERATOR || operator> SUSPECTS_LESS_EQUAL)
            return NULL;
        if (predictor->predicate == 0) // the opposite
            operator= operator> SUSPECTS_GREATER ? operator- 3 : operator+ 3;
        return operators[operator];
    default:
        return NULL;
    }
}

// ---- Thermometers

struct bar_part {
    const char *utf8;
    char ascii;
    enum color color;
};

static const struct bar_part bar_parts[4] = {
    {"█", '#', COLOR_DIM},     // context
    {"▓", '*', COLOR_RED},     // increase, at least
    {"▒", '+', COLOR_MAGENTA}, // increase, up to
    {"░", '.', COLOR_GREEN},   // passed
};

static void append_part(struct strbuf *out, const struct bar_part *part, uint32_t count,
                        const struct suspects_style *style)
{
    if (count == 0)
        return;
    strbuf_append(out, color_start(style->color, part->color));
    for (uint32_t i = 0; i < count; i++) {
        if (style->ascii)
            strbuf_append_char(out, part->ascii);
        else
            strbuf_append(out, part->utf8);
    }
    strbuf_append(out, color_end(style->color));
}

static double within(double value, double low, double high)
{
    return isnan(value) || value < low ? low : value > high ? high : value;
}

void suspects_append_bar(struct strbuf *out, const struct predictor *predictor, uint64_t most,
                         const struct suspects_style *style)
{
    double runs = (double)(predictor->failing + predictor->passing);
    double scale = most ? log1p(runs) / log1p((double)most) : 0;
    uint32_t length = (uint32_t)ceil(within(scale, 0, 1) * SUSPECTS_BAR), at = 0;
    double context = within(predictor->context, 0, 1);
    double failure = within(predictor->failure, context, 1);
    const double ends[4] = {context, within(context + predictor->increase_low, context, failure),
                            failure, 1};

    for (int p = 0; p < 4; p++) {
        uint32_t end = (uint32_t)lround(ends[p] * length);
        append_part(out, &bar_parts[p], end - at, style);
        at = end;
    }
    strbuf_append_repeated(out, ' ', SUSPECTS_BAR - length);
}

static void write_legend(const struct suspects_style *style, FILE *stream)
{
    static const char *const words[4] = {"context", "increase, at least", "increase, up to",
                                         "passed"};
    _cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

    for (int p = 0; p < 4; p++) {
        strbuf_append(&line, p ? "  " : "");
        append_part(&line, &bar_parts[p], 2, style);
        strbuf_printf(&line, " %s", words[p]);
    }
    fprintf(stream, "%s; length: runs in which it was true, as a logarithm\n", line.data);
}

// ---- Lists

static double measure(const struct suspects_view *view, const struct predictor *predictor)
{
    return view->by[0] == 'o'   ? predictor->ochiai
           : view->by[0] == 't' ? predictor->tarantula
                                : predictor->importance;
}

static void write_source(const struct predictor *predictor, struct sources *sources, bool color,
                         FILE *stream)
{
    size_t length;
    const char *line =
        predictor->line ? sources_line(sources, predictor->file, predictor->line, &length) : NULL;
    if (!line)
        return;
    while (length && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    uint32_t column = 0;
    source_append_line(&text, line, length, 68, &column);
    fprintf(stream, "         %s%u | %s%s\n", color_start(color, COLOR_DIM), predictor->line,
            text.data, color_end(color));
}

static void write_predictor(const struct suspects_view *view, const struct suspects_style *style,
                            const struct predictor *predictor, uint32_t number,
                            struct sources *sources, FILE *stream)
{
    const struct ranking *ranking = view->ranking;
    _cleanup_strbuf_ struct strbuf bar = STRBUF_INIT, words = STRBUF_INIT, place = STRBUF_INIT;
    _cleanup_free_ char *plain = suspects_words(predictor);

    suspects_append_bar(&bar, predictor, ranking->failing + ranking->passing, style);
    strbuf_append_escaped(&words, plain);
    strbuf_append_escaped(&place, predictor->function_name);
    strbuf_append(&place, "() ");
    strbuf_append_escaped(&place, *predictor->file ? predictor->file : "??");
    if (predictor->line)
        strbuf_printf(&place, ":%u", predictor->line);
    if (predictor->line && predictor->column)
        strbuf_printf(&place, ":%u", predictor->column);
    fprintf(stream, "  %3u  %s  %10.3f  %+6.3f  %6llu %6llu  %s%s%s\n", number, bar.data,
            measure(view, predictor), predictor->increase, (unsigned long long)predictor->failing,
            (unsigned long long)predictor->passing, color_start(style->color, COLOR_BOLD),
            words.data, color_end(style->color));
    fprintf(stream, "       %s", place.data);
    if (predictor->redundant)
        fprintf(stream, "; %u more of this site in the same runs", predictor->redundant);
    fputc('\n', stream);
    write_source(predictor, sources, style->color, stream);
}

static void write_cluster(const struct suspects_view *view, const struct suspects_style *style,
                          uint32_t number, struct sources *sources, FILE *stream)
{
    const struct cluster *cluster = &view->ranking->clusters[number];
    uint32_t count = view->first && view->first < cluster->count ? view->first : cluster->count;

    if (view->by[0] == 'i')
        fprintf(stream, "\n%scluster %u%s: explains %llu failing run%s\n",
                color_start(style->color, COLOR_BOLD), number + 1, color_end(style->color),
                (unsigned long long)cluster->failing, cluster->failing == 1 ? "" : "s");
    else
        fprintf(stream, "\nall predicates by %s, without clusters\n", view->by);
    fprintf(stream, "  %3s  %-*s  %10s  %6s  %6s %6s  %s\n", "", SUSPECTS_BAR, "", view->by,
            "incr.", "failed", "passed", "predicate");
    for (uint32_t p = 0; p < count; p++)
        write_predictor(view, style, &cluster->predictors[p], p + 1, sources, stream);
    if (count < cluster->count)
        fprintf(stream, "       and %u more (--first N)\n", cluster->count - count);
}

static void write_head(const struct suspects_view *view, FILE *stream)
{
    const struct ranking *ranking = view->ranking;
    _cleanup_free_ char *id =
        suspects_build_id(ranking->build.build_id, ranking->build.build_id_length);
    _cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

    strbuf_append_escaped(&path, ranking->build.path ? ranking->build.path : "??");
    fprintf(stream, "%s, build %.12s: %llu failed, %llu passed\n", path.data, *id ? id : "(no id)",
            (unsigned long long)ranking->failing, (unsigned long long)ranking->passing);
}

void suspects_write_text(const struct suspects_view *view, const struct suspects_style *style,
                         FILE *stream)
{
    const struct ranking *ranking = view->ranking;
    struct sources *sources =
        sources_create(style->source_directories, style->source_directory_count);

    write_head(view, stream);
    if (ranking->cluster_count)
        write_legend(style, stream);
    for (uint32_t c = 0; c < ranking->cluster_count; c++)
        if (!view->cluster || view->cluster == c + 1)
            write_cluster(view, style, c, sources, stream);
    if (!ranking->cluster_count)
        fprintf(stream, "no predicate predicts failure\n");
    else if (ranking->unexplained && !view->cluster && view->by[0] == 'i')
        fprintf(stream, "\n%llu failing run%s that no predictor explains\n",
                (unsigned long long)ranking->unexplained, ranking->unexplained == 1 ? "" : "s");
    sources_destroy(sources);
}
