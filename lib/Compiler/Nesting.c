//===- Nesting.c - how deep a text is nested ------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nesting.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  /// How deep brackets may nest, aliases with what they stand for, and how many
  /// signs may follow each other: far less than the stack of a thread holds.
  MAX_DEPTH = 256,
  /// The most aliases that one may stand for, each counted as often as it would
  /// be written out.
  MAX_SIZE = 1 << 20,
};

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// The end of the string or the comment that begins at `i`, or `i`. Neither
/// goes beyond its line.
static size_t skipQuoted(const char *mlir, size_t length, size_t i) {
  bool isString = mlir[i] == '"';
  if (!isString && !(mlir[i] == '/' && i + 1 < length && mlir[i + 1] == '/'))
    return i;
  for (++i; i < length && mlir[i] != '\n'; ++i) {
    if (isString && mlir[i] == '"')
      break;
    if (isString && mlir[i] == '\\')
      ++i;
  }
  return i;
}

/// 1 for an opening bracket, -1 for a closing one. Neither arrows nor
/// comparisons are any.
static int bracket(const char *mlir, size_t length, size_t i) {
  switch (mlir[i]) {
  case '(':
  case '[':
  case '{':
  case '<':
    return 1;
  case ')':
  case ']':
  case '}':
    return -1;
  case '>':
    return (i > 0 && mlir[i - 1] == '-') ||
                   (i + 1 < length && mlir[i + 1] == '=')
               ? 0
               : -1;
  }
  return 0;
}

/// The end of the name of an alias that begins behind `i`; `i + 1` if there is
/// none. A name with a dot is that of a dialect's attribute or type.
static size_t skipName(const char *mlir, size_t length, size_t i) {
  size_t end = i + 1;
  while (end < length && (isalnum((unsigned char)mlir[end]) ||
                          (mlir[end] && strchr("$._-", mlir[end]))))
    ++end;
  return end;
}

/// Behind spaces and comments.
static size_t skipSpace(const char *mlir, size_t length, size_t i) {
  while (i < length) {
    if (mlir[i] == '/' && skipQuoted(mlir, length, i) != i)
      i = skipQuoted(mlir, length, i);
    else if (mlir[i] && strchr(" \t\r\n", mlir[i]))
      ++i;
    else
      break;
  }
  return i;
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

/// A name for an attribute or a type, `#name` or `!name`, of which only earlier
/// ones are part.
typedef struct Alias {
  /// Null where there is none.
  const char *name;
  size_t length;
  /// With what it stands for: how deep it nests, and how many aliases it is.
  int depth;
  int64_t size;
} Alias;

/// A hash table with a free place.
typedef struct Aliases {
  Alias *table;
  /// Less than a power of two by one.
  size_t mask;
} Aliases;

/// The one of this name, or the place for it.
static Alias *findAlias(const Aliases *aliases, const char *name,
                        size_t length) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a.
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3;
  size_t at = (size_t)(hash >> 20) & aliases->mask;
  while (aliases->table[at].name &&
         (aliases->table[at].length != length ||
          memcmp(aliases->table[at].name, name, length) != 0))
    at = (at + 1) & aliases->mask;
  return &aliases->table[at];
}

/// Room for as many as there can be. False if there is no memory.
static bool createAliases(const char *mlir, size_t length, Aliases *aliases) {
  size_t most = 1, size = 2;
  for (size_t i = 0; i < length; ++i)
    most += mlir[i] == '#' || mlir[i] == '!';
  while (size < 2 * most)
    size *= 2;
  *aliases = (Aliases){calloc(size, sizeof(Alias)), size - 1};
  return aliases->table;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

typedef struct Scanner {
  const char *mlir;
  size_t length;
  Aliases aliases;
  int depth, signs;
  /// The alias that is being defined, as far as can be told: up to the next one
  /// or the first value. And how deep it is in the text.
  Alias *current;
  int currentDepth;
} Scanner;

/// An alias is used at this depth. False if that is too much.
static bool useAlias(Scanner *s, const Alias *used) {
  Alias *current = s->current;
  if (used == current || !used->name)
    return true;
  if (current) {
    int depth = s->depth - s->currentDepth + 1 + used->depth;
    if (current->depth < depth)
      current->depth = depth;
    current->size += used->size;
  }
  return s->depth + used->depth <= MAX_DEPTH && used->size <= MAX_SIZE;
}

/// Looks at the name at `*i` and goes behind it. False if it is too much.
static bool scanName(Scanner *s, size_t *i) {
  const char *name = s->mlir + *i;
  size_t end = skipName(s->mlir, s->length, *i);
  size_t next = skipSpace(s->mlir, s->length, end);
  Alias *alias = findAlias(&s->aliases, name, end - *i);
  bool defines = next < s->length && s->mlir[next] == '=' &&
                 !(next + 1 < s->length && s->mlir[next + 1] == '=');
  *i = end - 1;
  if (!defines)
    return useAlias(s, alias);
  if (!alias->name)
    *alias = (Alias){name, end - (size_t)(name - s->mlir), 1, 1};
  s->current = alias;
  s->currentDepth = s->depth;
  return true;
}

/// Looks at what is at `*i` and goes to its end. False if it is too deep.
static bool scan(Scanner *s, size_t *i) {
  char c = s->mlir[*i];
  if (c == '#' || c == '!')
    return scanName(s, i);
  if (c == '%')
    s->current = NULL;
  s->depth += bracket(s->mlir, s->length, *i);
  if (s->depth < 0)
    s->depth = 0;
  if (c == '-')
    ++s->signs;
  else if (c != ' ' && c != '\n')
    s->signs = 0;
  return s->depth <= MAX_DEPTH && s->signs <= MAX_DEPTH;
}

const char *gqNestingRefuse(const char *mlir, size_t length) {
  Scanner scanner = {.mlir = mlir, .length = length};
  if (!createAliases(mlir, length, &scanner.aliases))
    return "out of memory";
  bool valid = true;
  for (size_t i = 0; i < length && valid; ++i) {
    i = skipQuoted(mlir, length, i);
    if (i < length)
      valid = scan(&scanner, &i);
  }
  free(scanner.aliases.table);
  return valid ? NULL
               : "brackets, signs or aliases are nested more than 256 deep, or "
                 "an alias stands for more than 2^20 others";
}
