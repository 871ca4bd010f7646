//! Keys and text of Oracle NoSQL.
