//! Runs a design. So far: the byte level of the embedded store, see [`embedded`].
