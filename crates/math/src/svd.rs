//! SVD.
