//! Polygon meshes of Alembic archives: points, normals and bounds over time; faces and texture coordinates once.
//!
//! Alembic lists the corners of a face clockwise, seen from outside.

use super::object::{Object, WrittenObject};
use super::ogawa::OgawaWriter;
use super::property::{MetadataTable, Pod, Property, PropertyKind, Shape, compound};
use crate::appearance::SurfaceAppearance;
use sinew_take::{Smoothing, SurfaceInfo};
use std::io;
use xxhash_rust::xxh3::Xxh3;

const BOUNDS: PropertyKind = PropertyKind {
    name: ".selfBnds",
    shape: Shape::Scalar,
    pod: Pod::F64,
    extent: 6,
    metadata: "interpretation=box",
    is_animated: true,
};
const POINTS: PropertyKind = PropertyKind {
    name: "P",
    shape: Shape::Array,
    pod: Pod::F32,
    extent: 3,
    metadata: "geoScope=vtx;interpretation=point",
    is_animated: true,
};
const NORMALS: PropertyKind = PropertyKind {
    name: "N",
    metadata: "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t",
    ..POINTS
};
const FACE_INDICES: PropertyKind = PropertyKind {
    name: ".faceIndices",
    shape: Shape::Array,
    pod: Pod::I32,
    extent: 1,
    metadata: "",
    is_animated: false,
};
const FACE_COUNTS: PropertyKind = PropertyKind { name: ".faceCounts", ..FACE_INDICES };
const UVS: PropertyKind = PropertyKind {
    name: "uv",
    pod: Pod::F32,
    extent: 2,
    metadata: "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t;sourceName=st",
    ..FACE_INDICES
};

/// What the objects and compounds are.
const MESH_SCHEMA: &str = "schema=AbcGeom_PolyMesh_v1";
const MESH_OBJECT: &str =
    "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const TRANSFORM_SCHEMA: &str = "schema=AbcGeom_Xform_v3";
const TRANSFORM_OBJECT: &str = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";

/// A mesh, some samples of which are written.
pub(super) struct PolyMesh {
    bounds: Property,
    points: Property,
    normals: Property,
    face_indices: Property,
    face_counts: Property,
    uvs: Property,
    hash: Xxh3,
}

impl PolyMesh {
    /// Writes what stays the same.
    pub(super) fn begin(
        surface: &SurfaceInfo,
        look: &SurfaceAppearance,
        writer: &mut OgawaWriter,
    ) -> io::Result<PolyMesh> {
        let [bounds, points, normals] = [BOUNDS, POINTS, NORMALS].map(Property::new);
        let [mut face_indices, mut face_counts, mut uvs] =
            [FACE_INDICES, FACE_COUNTS, UVS].map(Property::new);
        let mut hash = Xxh3::new();

        // faces
        let corners: Vec<u32> = surface.triangles.iter().flat_map(|[a, b, c]| [*c, *b, *a]).collect();
        let indices: Vec<u8> = corners.iter().flat_map(|v| v.to_le_bytes()).collect();
        face_indices.push(&indices, &mut hash, writer)?;
        let counts: Vec<u8> = surface.triangles.iter().flat_map(|_| 3_u32.to_le_bytes()).collect();
        face_counts.push(&counts, &mut hash, writer)?;

        // texture coordinates of every corner, from the lower left corner of the image
        if let Some(stored) = look.uv_sets.first().filter(|stored| stored.len() == surface.rest.len()) {
            let of_corner = |v: &u32| [stored[*v as usize][0], 1.0 - stored[*v as usize][1]];
            let numbers: Vec<u8> = corners.iter().flat_map(of_corner).flat_map(f32::to_le_bytes).collect();
            uvs.push(&numbers, &mut hash, writer)?;
        }
        Ok(PolyMesh { bounds, points, normals, face_indices, face_counts, uvs, hash })
    }

    /// Writes a frame.
    pub(super) fn frame(
        &mut self,
        points: &[[f32; 3]],
        smoothing: &Smoothing,
        writer: &mut OgawaWriter,
    ) -> io::Result<()> {
        let bytes = |vectors: &[[f32; 3]]| -> Vec<u8> {
            vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
        };
        self.bounds.push(&bounds(points), &mut self.hash, writer)?;
        self.points.push(&bytes(points), &mut self.hash, writer)?;
        self.normals.push(&bytes(&smoothing.normals(points)), &mut self.hash, writer)
    }

    /// Writes a transform with the mesh below it.
    pub(super) fn finish(
        self,
        name: &str,
        table: &mut MetadataTable,
        writer: &mut OgawaWriter,
    ) -> io::Result<WrittenObject> {
        // the mesh
        let mut properties = Vec::new();
        for property in [&self.bounds, &self.points, &self.face_indices, &self.face_counts, &self.normals] {
            properties.push(property.write(table, writer)?);
        }
        if self.uvs.has_samples() {
            properties.push(self.uvs.write(table, writer)?);
        }
        let geometry = compound(".geom", MESH_SCHEMA, &properties, table, writer)?;
        let hash = self.hash.digest128();
        let (shape, properties) = (format!("{name}Shape"), &[geometry][..]);
        let mesh = Object { name: shape, metadata: MESH_OBJECT, properties, children: &[], hash };
        let mesh = mesh.write(table, writer)?;

        // the transform, which is none
        let transform = compound(".xform", TRANSFORM_SCHEMA, &[], table, writer)?;
        let (name, properties, children) = (name.to_owned(), &[transform][..], &[mesh][..]);
        Object { name, metadata: TRANSFORM_OBJECT, properties, children, hash: 0 }.write(table, writer)
    }
}

/// The bounding box of points, as six doubles.
fn bounds(points: &[[f32; 3]]) -> Vec<u8> {
    let first = points.first().copied().unwrap_or_default();
    let [low, high] = points.iter().fold([first; 2], |[low, high], point| {
        [[0, 1, 2].map(|i| low[i].min(point[i])), [0, 1, 2].map(|i| high[i].max(point[i]))]
    });
    [low, high].as_flattened().iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect()
}
