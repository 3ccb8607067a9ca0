//! packset: the memory a coding agent keeps.
