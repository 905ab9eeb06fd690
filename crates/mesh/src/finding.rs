//! Diagnostics of a surface: what is wrong with it, how much of it, and how it was repaired.
//!
//! None of them stops a build: faults that do are a [`crate::SolidError`].

use core::fmt;

/// One kind of defect of a surface, with its extent.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Edges with a triangle on one side only.
    OpenEdges {
        /// How many edges.
        edges: usize,
        /// How many holes they surround.
        holes: usize,
        /// How many of the holes were closed by a fan of triangles.
        closed: usize,
    },
    /// Edges shared by more than two triangles.
    NonManifoldEdges {
        /// How many edges.
        edges: usize,
    },
    /// Triangles whose orientation disagreed with their neighbours, and were flipped.
    FlippedTriangles {
        /// How many triangles.
        triangles: usize,
    },
    /// The whole surface faced inwards, and was flipped.
    InsideOut,
    /// Triangles without area.
    DegenerateTriangles {
        /// How many triangles.
        triangles: usize,
    },
    /// Triangles with the same three corners as an earlier one.
    DuplicateTriangles {
        /// How many triangles.
        triangles: usize,
    },
    /// Separate shells.
    Shells {
        /// How many shells.
        shells: usize,
    },
    /// Vertices that no triangle uses.
    UnusedVertices {
        /// How many vertices.
        vertices: usize,
    },
    /// Parts of the surface that lie inside the solid, where shells overlap.
    Overlap {
        /// Their fraction of the surface, 0 to 1.
        fraction: f64,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // holes and edges
            Self::OpenEdges { edges, holes, closed } if holes == closed => {
                write!(f, "{edges} open edges around {holes} holes: closed by fans of triangles")
            }
            Self::OpenEdges { edges, holes, closed } => write!(
                f,
                "{edges} open edges around {holes} holes: {closed} closed by fans of triangles; at the rest \
                 the inside ends where the winding number is one half"
            ),
            Self::NonManifoldEdges { edges } => {
                write!(
                    f,
                    "{edges} edges with more than two triangles: their triangles keep their orientation"
                )
            }
            // triangles
            Self::FlippedTriangles { triangles } => {
                write!(f, "{triangles} triangles are oriented against their neighbours: flipped")
            }
            Self::InsideOut => write!(f, "the surface faces inwards: flipped as a whole"),
            Self::DegenerateTriangles { triangles } => {
                write!(f, "{triangles} triangles have no area: ignored by the inside test")
            }
            Self::DuplicateTriangles { triangles } => {
                write!(f, "{triangles} triangles repeat earlier ones: counted once")
            }
            // the surface as a whole
            Self::Shells { shells } => write!(f, "{shells} separate shells: all kept"),
            Self::UnusedVertices { vertices } => {
                write!(f, "{vertices} vertices belong to no triangle: they move along but carry no force")
            }
            Self::Overlap { fraction } => write!(
                f,
                "about {:.1} % of the surface lies inside the solid: overlapping parts count once",
                100.0 * fraction
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_how_it_was_repaired() {
        let hole = Finding::OpenEdges { edges: 12, holes: 1, closed: 1 };
        assert_eq!(hole.to_string(), "12 open edges around 1 holes: closed by fans of triangles");
    }
}
