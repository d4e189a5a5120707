# What mlir-tblgen leaves for a tool to replace with a table of contents.
/^\[TOC\]/,+1d
