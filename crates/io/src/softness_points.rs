//! Painted softness: a .csv table of points of bodies at rest, each with how soft it is there.
//!
//! ```csv
//! x,y,z,softness,body
//! 0.12,1.05,0.08,1.7,dancer
//! ```
//!
//! Coordinates are those of the scene at rest (m): the bind pose of characters. Points need not be vertices, so that a mesh may be changed after it was painted. Without a body a point is one of all bodies.

use sinew_files::{AtomicFile, ReadError};
use sinew_math::Vec3;
use sinew_mesh::PointField;
use sinew_sim::desc::BodyDesc;
use sinew_take::Scene;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The largest softness that can be painted.
pub(crate) const MAX_SOFTNESS: f32 = 10.0;

/// Painted softness of some bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftnessPoints {
    /// Points at rest (m), softness, and the body that each is of; none for all of them.
    rows: Vec<(Vec3, f32, Option<String>)>,
}

impl SoftnessPoints {
    /// Reads a table.
    pub fn read(path: &Path) -> Result<SoftnessPoints, ReadError> {
        let bytes = sinew_files::read_bytes(path)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| ReadError::whole("not text: painted softness is a .csv table").within(path))?;
        SoftnessPoints::of_text(text).map_err(|error| error.within(path))
    }

    fn of_text(text: &str) -> Result<SoftnessPoints, ReadError> {
        let mut rows = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            let is_header = i == 0 && line.starts_with(|c: char| c.is_alphabetic());
            if !line.is_empty() && !line.starts_with('#') && !is_header {
                rows.push(row(line).map_err(|message| ReadError::line(i + 1, message))?);
            }
        }
        if rows.is_empty() {
            return Err(ReadError::whole("no points: write a line x,y,z,softness for each"));
        }
        Ok(SoftnessPoints { rows })
    }

    /// Softness of a body at points.
    pub fn add(&mut self, body: &str, points: impl IntoIterator<Item = (Vec3, f32)>) {
        self.rows
            .extend(points.into_iter().map(|(place, softness)| (place, softness, Some(body.to_owned()))));
    }

    /// The softness of a body; empty if nothing is painted on it.
    pub fn of_body(&self, body: &str) -> PointField {
        let own = self.rows.iter().filter(|(_, _, of)| of.as_ref().is_none_or(|of| of == body));
        PointField::new(own.map(|(place, softness, _)| (*place, *softness)))
    }

    /// Paints the bodies of a scene, save those of characters from files, which are built with it.
    pub fn paint(&self, scene: &mut Scene) -> Result<(), String> {
        let is_body = |name: &&String| scene.world.bodies.iter().any(|body| body.name == **name);
        let unknown = self.rows.iter().filter_map(|(_, _, of)| of.as_ref()).find(|of| !is_body(of));
        if let Some(unknown) = unknown {
            return Err(format!("softness is painted on '{unknown}', which is no body of the scene"));
        }
        let has_home = |body: &BodyDesc| body.attachment.as_ref().is_some_and(|own| own.home.is_some());
        for body in scene.world.bodies.iter_mut().filter(|body| !has_home(body)) {
            body.softness = self.of_body(&body.name);
        }
        Ok(())
    }

    /// Writes the table.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = String::from("x,y,z,softness,body\n");
        for (place, softness, body) in &self.rows {
            let body = body.as_deref().map(|body| format!(",{body}")).unwrap_or_default();
            // writing to a string cannot fail
            let _ = writeln!(text, "{},{},{},{softness}{body}", place.x, place.y, place.z);
        }
        let mut file = AtomicFile::create(path).map_err(|error| error.to_string())?;
        file.write_all(text.as_bytes()).and_then(|()| file.commit()).map_err(|error| error.to_string())
    }
}

/// Reads `x,y,z,softness` or `x,y,z,softness,body`.
fn row(line: &str) -> Result<(Vec3, f32, Option<String>), String> {
    let wrong = || {
        format!("`{line}` is no point: write x,y,z,softness, and the name of the body if there are several")
    };
    let mut fields = line.splitn(5, ',');
    let mut number =
        || -> Option<f64> { fields.next()?.trim().parse::<f64>().ok().filter(|number| number.is_finite()) };
    let (Some(x), Some(y), Some(z), Some(softness)) = (number(), number(), number(), number()) else {
        return Err(wrong());
    };
    if !(0.0..=f64::from(MAX_SOFTNESS)).contains(&softness) {
        return Err(format!("a softness of {softness}: paint from 0, rigid, to {MAX_SOFTNESS}"));
    }
    let body = fields.next().map(str::trim).filter(|body| !body.is_empty()).map(str::to_owned);
    Ok((Vec3::new(x, y, z), softness as f32, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut painted = SoftnessPoints::default();
        painted.add("left, arm", [(Vec3::new(0.1, -2.5, 1e-9), 0.3)]);
        painted.add("b", [(Vec3::zeros(), 10.0)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("soft.csv");
        painted.write(&path).unwrap();
        let read = SoftnessPoints::read(&path).unwrap();
        assert_eq!(read, painted);
        assert_eq!(read.of_body("b").at(&[Vec3::x()]), [10.0]);
        assert!(read.of_body("other").is_empty());
    }

    #[test]
    fn faulty_tables_are_refused_with_their_line() {
        for (text, message) in [
            ("", "no points"),
            ("x,y,z,softness\n", "no points"),
            ("0,0,0,1\n0,0,1\n", "line 2"),
            ("0,0,0,11", "0, rigid, to 10"),
            ("0,0,NaN,1", "no point"),
            ("0,0,0,-1", "0, rigid, to 10"),
        ] {
            let error = SoftnessPoints::of_text(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
        let all = SoftnessPoints::of_text("# painted by hand\n0, 0, 0, 0.5\n").unwrap();
        assert_eq!(all.of_body("any").at(&[Vec3::x()]), [0.5]);
    }
}
