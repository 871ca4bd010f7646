//! Traps of HBase.
