//! Tests of the whole library that need its inner parts.

mod bad_input;
