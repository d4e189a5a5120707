//===- Svg.c - what was measured, as a bar chart --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "tools/common/File.h"

#include <inttypes.h>
#include <string.h>

/// In pixels.
enum {
  WIDTH = 900,
  LEFT = 190,  // where bars begin
  RIGHT = 610, // where the axis ends
  TOP = 84,
  COLUMN = 66, // of numbers beside the bars
  BAR = 11,
  ROW_HEIGHT = 30,
  HEADING_HEIGHT = 28,
};

/// A bar chart in the making.
typedef struct Chart {
  FILE *file;
  const Report *report;
  double peak;
  /// The fraction at the end of the axis, 1 unless a bar needs more.
  double end;
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
          "%.2f TB/s; ",
          chart->peak);
  printText(file, report->date);
  if (*report->machine.driver) {
    fputs("; driver ", file);
    printText(file, report->machine.driver);
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

static void printAxis(const Chart *chart, int bottom) {
  for (int i = 0; i <= 4; ++i) {
    double value = chart->end * i / 4, x = positionOf(chart, value);
    fprintf(chart->file,
            "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
            "stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\" fill=\"#666\">%.2f</text>\n",
            x, TOP - 6, x, bottom, x, TOP - 12, value);
  }
}

/// The names of the columns beside the bars.
static void printColumns(FILE *file) {
  static const char *const names[] = {"of peak", "µs", "× copy", "speed-up"};
  for (int i = 0; i < 4; ++i)
    fprintf(file,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
            "fill=\"#666\">%s</text>\n",
            RIGHT + COLUMN * (i + 1), TOP - 12, names[i]);
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
  printCell(file, 0, y, 3, value);
  printCell(file, 1, y, 2, row->microseconds);
  printCell(file, 2, y, 2, row->microseconds / row->copyMicroseconds);
  printCell(file, 3, y, 2, row->separateMicroseconds / row->microseconds);
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
    double value = fraction(chart, (double)row->bytes, row->microseconds);
    end = value > end ? value : end;
  }
  return end;
}

static gqStatus writeSvg(FILE *file, const void *data) {
  const Report *report = data;
  Chart chart = {file, report, reportPeak(report), 1};
  chart.end = axisEnd(&chart);
  int bottom = chartBottom(report);
  printHead(&chart, bottom);
  printLegend(file);
  printAxis(&chart, bottom);
  printColumns(file);
  printRows(&chart);
  fputs("</svg>\n", file);
  return GQ_OK;
}

gqStatus reportWriteSvg(const Report *report, const char *path) {
  return fileWrite(path, writeSvg, report);
}
