//===- Svg.c - what was measured, as a bar chart --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "tools/common/File.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/// In pixels.
enum {
  WIDTH = 1100,
  LEFT = 190,  // where bars begin
  RIGHT = 560, // where the axis ends
  TOP = 84,
  COLUMN = 76,   // of numbers beside the bars
  EQUAL = 928,   // where neither is faster: slower to its left, faster right
  SPEED_UP = 90, // the longest bar from there
  RATIO = WIDTH - 16,
  BAR = 11,
  ROW_HEIGHT = 30,
  HEADING_HEIGHT = 28,
};

static const char FASTER[] = "#1b7837", SLOWER[] = "#b2182b", SAME[] = "#666";

/// A bar chart in the making.
typedef struct Chart {
  FILE *file;
  const Report *report;
  double peak;
  /// The fraction at the end of the axis, 1 unless a bar needs more.
  double end;
  /// Of the longest bar of a speed-up or a slow-down, the logarithm.
  double longest;
} Chart;

/// Prints text, escaping XML's special characters.
static void printText(FILE *file, const char *text) {
  for (; *text; ++text) {
    if (*text == '&')
      fputs("&amp;", file);
    else if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else if ((unsigned char)*text >= ' ')
      fputc(*text, file);
  }
}

/// How many times as fast the fused op is, as a logarithm: below 0 it is
/// slower.
static double speedUp(const Row *row) {
  return log2(row->separateMicroseconds / row->microseconds);
}

static double fraction(const Chart *chart, double bytes, double microseconds) {
  return bytes / microseconds * 1e-6 / chart->peak;
}

static double positionOf(const Chart *chart, double fraction) {
  return LEFT + (RIGHT - LEFT) * fraction / chart->end;
}

/// Rows of one operator are next to each other, under its name.
static bool startsOperator(const Report *report, size_t i) {
  return i == 0 || strcmp(report->rows[i].name, report->rows[i - 1].name) != 0;
}

static int chartBottom(const Report *report) {
  int bottom = TOP;
  for (size_t i = 0; i < report->numRows; ++i)
    bottom += ROW_HEIGHT + (startsOperator(report, i) ? HEADING_HEIGHT : 0);
  return bottom;
}

static void printHead(const Chart *chart, int bottom) {
  FILE *file = chart->file;
  const Report *report = chart->report;
  RateUnit unit = reportRateUnit(report);
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
          "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
          "font-size=\"12\" fill=\"#222\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
          "<text x=\"16\" y=\"26\" font-size=\"16\">",
          WIDTH, bottom + 16, WIDTH, bottom + 16);
  printText(file, report->machine.name);
  fprintf(file,
          "</text>\n<text x=\"16\" y=\"46\">fraction of the peak copy, "
          "%.2f %s; ",
          chart->peak * unit.perTerabyte, unit.name);
  printText(file, report->date);
  if (*report->machine.driver) {
    fputs("; driver ", file);
    printText(file, report->machine.driver);
  }
  if (*report->machine.isa) {
    fputs("; ", file);
    printText(file, report->machine.isa);
    fprintf(file, ", %" PRId64 " threads", report->machine.threads);
  }
  fputs("</text>\n", file);
}

static void printLegend(FILE *file) {
  static const struct {
    const char *color, *text;
  } entries[] = {{"#2166ac", "fused"}, {"#bbb", "separate ops"}};
  for (int i = 0; i < 2; ++i)
    fprintf(file,
            "<rect x=\"%d\" y=\"16\" width=\"12\" height=\"12\" fill=\"%s\"/>"
            "<text x=\"%d\" y=\"26\">%s</text>\n",
            RIGHT + 20 + 90 * i, entries[i].color, RIGHT + 38 + 90 * i,
            entries[i].text);
}

/// As many decimals as leave three to five digits.
static int decimalsOf(double value) {
  return value < 100 ? 2 : value < 1000 ? 1 : 0;
}

static void printAxis(const Chart *chart, int bottom) {
  for (int i = 0; i <= 4; ++i) {
    double value = chart->end * i / 4, x = positionOf(chart, value);
    fprintf(chart->file,
            "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
            "stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\" fill=\"#666\">%.*f</text>\n",
            x, TOP - 6, x, bottom, x, TOP - 12, decimalsOf(value), value);
  }
}

/// The names of the columns beside the bars.
static void printColumns(FILE *file, int bottom) {
  static const char *const names[] = {"of peak", "µs", "× copy"};
  for (int i = 0; i < 3; ++i)
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
            "fill=\"#666\">%s</text>\n",
            RIGHT + COLUMN * (i + 1), TOP - 12, names[i]);
  fprintf(file,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">slower"
          "</text><text x=\"%d\" y=\"%d\" fill=\"%s\">faster than separate"
          "</text>\n",
          EQUAL - 8, TOP - 12, SLOWER, EQUAL + 8, TOP - 12, FASTER);
  fprintf(file,
          "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" "
          "stroke=\"#888\"/>\n",
          EQUAL, TOP - 6, EQUAL, bottom);
}

/// A bar to the right for a speed-up, to the left for a slow-down, by its
/// logarithm, and the factor.
static void printSpeedUp(const Chart *chart, const Row *row, int y) {
  double logarithm = speedUp(row);
  double width = SPEED_UP * fabs(logarithm) / chart->longest;
  // What is printed as 1.00 is neither.
  const char *color = fabs(exp2(logarithm) - 1) < 0.005 ? SAME
                      : logarithm < 0                   ? SLOWER
                                                        : FASTER;
  fprintf(chart->file,
          "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
          "fill=\"%s\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
          "fill=\"%s\">%.2f</text>\n",
          logarithm < 0 ? EQUAL - width : EQUAL, y + 3, width, 2 * BAR - 5,
          color, RATIO, y + BAR + 3, color, exp2(logarithm));
}

static void printBar(const Chart *chart, double value, int y,
                     const char *color) {
  fprintf(chart->file,
          "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
          "fill=\"%s\"/>\n",
          LEFT, y, positionOf(chart, value) - LEFT, BAR, color);
}

/// Prints a number beside the bars at `y`.
static void printCell(FILE *file, int column, int y, int decimals,
                      double value) {
  fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.*f</text>\n",
          RIGHT + COLUMN * (column + 1), y + BAR + 3, decimals, value);
}

/// A bar for the fused op, and one for the separate ops below it.
static void printRow(const Chart *chart, const Row *row, int y) {
  FILE *file = chart->file;
  double value = fraction(chart, (double)row->bytes, row->microseconds);
  fprintf(file,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%" PRId64 " × %" PRId64
          ", G = %" PRId64 "</text>\n",
          LEFT - 8, y + BAR + 3, row->rows, row->columns, row->groups);
  printBar(chart, value, y, "#2166ac");
  printBar(chart,
           fraction(chart, (double)row->bytes, row->separateMicroseconds),
           y + BAR + 1, "#bbb");
  double overCopy = row->microseconds / row->copyMicroseconds;
  printCell(file, 0, y, 3, value);
  printCell(file, 1, y, decimalsOf(row->microseconds), row->microseconds);
  printCell(file, 2, y, decimalsOf(overCopy), overCopy);
  printSpeedUp(chart, row, y);
}

static void printRows(const Chart *chart) {
  const Report *report = chart->report;
  int y = TOP;
  for (size_t i = 0; i < report->numRows; ++i) {
    if (startsOperator(report, i)) {
      fprintf(chart->file, "<text x=\"16\" y=\"%d\" font-weight=\"bold\">",
              y + 18);
      printText(chart->file, report->rows[i].name);
      fputs("</text>\n", chart->file);
      y += HEADING_HEIGHT;
    }
    printRow(chart, &report->rows[i], y);
    y += ROW_HEIGHT;
  }
}

/// Bars may be longer than the peak where operands stay in a cache.
static double axisEnd(const Chart *chart) {
  double end = 1;
  for (size_t i = 0; i < chart->report->numRows; ++i) {
    const Row *row = &chart->report->rows[i];
    double least = fmin(row->microseconds, row->separateMicroseconds);
    end = fmax(end, fraction(chart, (double)row->bytes, least));
  }
  return end;
}

/// That of a factor of two, or the largest one.
static double longestSpeedUp(const Report *report) {
  double longest = 1;
  for (size_t i = 0; i < report->numRows; ++i)
    longest = fmax(longest, fabs(speedUp(&report->rows[i])));
  return longest;
}

static gqStatus writeSvg(FILE *file, const void *data) {
  const Report *report = data;
  Chart chart = {file, report, reportPeak(report), 1, longestSpeedUp(report)};
  chart.end = axisEnd(&chart);
  int bottom = chartBottom(report);
  printHead(&chart, bottom);
  printLegend(file);
  printAxis(&chart, bottom);
  printColumns(file, bottom);
  printRows(&chart);
  fputs("</svg>\n", file);
  return GQ_OK;
}

gqStatus reportWriteSvg(const Report *report, const char *path) {
  return fileWrite(path, writeSvg, report);
}
