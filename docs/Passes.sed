# mlir-tblgen gives the page no title and begins its headings at the third level.
s/^##\(#* \)/#\1/
1a\
\
# Passes
