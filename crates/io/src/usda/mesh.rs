//! Mesh prims of USD stages: topology, texture coordinates, colours and materials once, points and normals over time.

use super::material::{StageMaterials, uv_primvar};
use super::text::{list, point_list, quoted};
use crate::appearance::{Appearance, MaterialGroup, SurfaceAppearance};
use crate::frame_spill::SpilledFrames;
use crate::obj_writer::rounded;
use sinew_take::{Smoothing, SurfaceInfo, body_color};
use std::io::{self, Write};

/// A body of the stage.
pub(super) struct MeshPrim<'a> {
    /// Its index in the scene.
    pub(super) index: usize,
    pub(super) surface: &'a SurfaceInfo,
    /// Its identifier.
    pub(super) name: &'a str,
    pub(super) appearance: &'a Appearance,
    pub(super) materials: &'a StageMaterials<'a>,
}

impl MeshPrim<'_> {
    pub(super) fn write(&self, frames: &mut SpilledFrames, file: &mut impl Write) -> io::Result<()> {
        let (surface, look) = (self.surface, self.look());
        self.write_head(file)?;
        self.write_shape(file)?;

        // what moves
        let smoothing = Smoothing::with_creases(surface, &look.normals);
        let normals = |points: &[[f32; 3]]| {
            list(&smoothing.normals(points), |normal| {
                let [x, y, z] = rounded(*normal);
                format!("({x}, {y}, {z})")
            })
        };
        self.write_samples(file, frames, "float3[] extent", "", &|points| point_list(&extent(points)))?;
        self.write_samples(file, frames, "point3f[] points", "", &point_list)?;
        self.write_samples(file, frames, "normal3f[] normals", "vertex", &normals)?;

        // materials of parts
        if look.groups.len() > 1 {
            self.write_subsets(file)?;
        }
        writeln!(file, "    }}")
    }

    fn look(&self) -> &SurfaceAppearance {
        self.appearance.surface(self.index)
    }

    /// The material of all of it.
    fn only_material(&self) -> Option<String> {
        match *self.look().groups {
            [MaterialGroup { material: Some(material), .. }] => self.materials.path(material),
            _ => None,
        }
    }

    fn write_head(&self, file: &mut impl Write) -> io::Result<()> {
        let own_name = quoted(&self.surface.name);
        let (schemas, binding) = match self.only_material() {
            Some(path) => (BINDING_SCHEMA, format!("        rel material:binding = <{path}>\n")),
            None => ("", String::new()),
        };
        write!(
            file,
            r#"    def Mesh "{}" (
{schemas}        customData = {{
            string name = {own_name}
        }}
    )
    {{
{binding}        uniform bool doubleSided = 1
        uniform token orientation = "rightHanded"
        uniform token subdivisionScheme = "none"
"#,
            self.name
        )
    }

    /// Colours, topology and texture coordinates.
    fn write_shape(&self, file: &mut impl Write) -> io::Result<()> {
        let (triangles, look) = (&self.surface.triangles, self.look());
        let (colors, interpolation) = self.display_colors();
        write!(
            file,
            r#"        color3f[] primvars:displayColor = {} (
            interpolation = "{interpolation}"
        )
        int[] faceVertexCounts = {}
        int[] faceVertexIndices = {}
"#,
            point_list(&colors),
            list(triangles, |_| "3".into()),
            list(triangles, |[a, b, c]| format!("{a}, {b}, {c}"))
        )?;
        for (set, uvs) in look.uv_sets.iter().enumerate() {
            // from the lower left corner of the image
            let uvs = list(uvs, |[u, v]| format!("({u:?}, {:?})", 1.0 - v));
            let primvar = uv_primvar(set);
            write!(
                file,
                "        texCoord2f[] primvars:{primvar} = {uvs} (\n            interpolation = \"vertex\"\n        )\n"
            )?;
        }
        Ok(())
    }

    /// Colours for viewers without materials: that of the body, or base colours times the colours of vertices.
    fn display_colors(&self) -> (Vec<[f32; 3]>, &'static str) {
        // one colour
        let look = self.look();
        let color = |group: &MaterialGroup| {
            let material = group.material.and_then(|material| self.appearance.materials.get(material));
            material.map_or_else(
                || body_color(self.index),
                |material| {
                    let [r, g, b, _] = material.base_color;
                    [r, g, b]
                },
            )
        };
        if look.groups.len() < 2 && look.colors.is_empty() {
            return (vec![look.groups.first().map_or_else(|| body_color(self.index), color)], "constant");
        }

        // one for each vertex
        let mut colors = vec![[1.0; 3]; self.surface.rest.len()];
        let mut first = 0;
        for group in &look.groups {
            let color = color(group);
            let of_group = self.surface.triangles.iter().skip(first).take(group.triangle_count);
            of_group.flatten().for_each(|v| colors[*v as usize] = color);
            first += group.triangle_count;
        }
        for (color, own) in colors.iter_mut().zip(&look.colors) {
            *color = [0, 1, 2].map(|i| color[i] * own[i]);
        }
        (colors, "vertex")
    }

    /// Writes an attribute computed from the points: its value at rest and in every frame.
    fn write_samples(
        &self,
        file: &mut impl Write,
        frames: &mut SpilledFrames,
        attribute: &str,
        interpolation: &str,
        value: &dyn Fn(&[[f32; 3]]) -> String,
    ) -> io::Result<()> {
        write!(file, "        {attribute} = {}", value(&self.surface.rest))?;
        match interpolation {
            "" => writeln!(file)?,
            _ => writeln!(file, " (\n            interpolation = \"{interpolation}\"\n        )")?,
        }
        if frames.count() == 0 {
            return Ok(());
        }
        writeln!(file, "        {attribute}.timeSamples = {{")?;
        let mut points = Vec::new();
        for frame in 0..frames.count() {
            frames.read(frame, self.index, &mut points)?;
            writeln!(file, "            {frame}: {},", value(&points))?;
        }
        writeln!(file, "        }}")
    }

    /// The faces of each material.
    fn write_subsets(&self, file: &mut impl Write) -> io::Result<()> {
        writeln!(file, "        uniform token subsetFamily:materialBind:familyType = \"nonOverlapping\"")?;
        let mut first = 0;
        for (number, group) in self.look().groups.iter().enumerate() {
            let faces: Vec<usize> = (first..first + group.triangle_count).collect();
            first += group.triangle_count;
            let Some(material) = group.material else { continue };
            let (Some(name), Some(path)) = (self.materials.name(material), self.materials.path(material))
            else {
                continue;
            };
            write!(
                file,
                r#"
        def GeomSubset "{name}_{number}" (
    {BINDING_SCHEMA}        )
        {{
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = {}
            rel material:binding = <{path}>
        }}
"#,
                list(&faces, ToString::to_string)
            )?;
        }
        Ok(())
    }
}

/// The line that lets a prim have a material.
const BINDING_SCHEMA: &str = "        prepend apiSchemas = [\"MaterialBindingAPI\"]\n";

/// The bounding box of points (m).
fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let Some(&first) = points.first() else { return [[0.0; 3]; 2] };
    points.iter().fold([first; 2], |[low, high], point| {
        [[0, 1, 2].map(|i| low[i].min(point[i])), [0, 1, 2].map(|i| high[i].max(point[i]))]
    })
}
