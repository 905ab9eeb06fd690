//! What is painted on vertices: softness, colours and texture coordinates.
//!
//! What several primitives refer to is read once and shared. Colours and texture coordinates matter only where a scene takes softness from
//! them: those that cannot be read are noted and left out. Softness that cannot be read is an error.

use super::accessor::{Accessor, Component};
use super::document_reader::{DocumentReader, Part};
use super::findings::Findings;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The attribute that holds softness.
const SOFTNESS: &str = "_SOFTNESS";
/// Colour sets beyond these are left out.
const MAX_SETS: usize = 8;
/// How numbers may be stored.
const NUMBERS: [Component; 5] =
    [Component::F32, Component::U8, Component::U16, Component::I8, Component::I16];

/// Vertex colours by their set.
type Colors = Vec<Option<Arc<[[f32; 4]]>>>;

/// What is painted on the vertices of a primitive.
#[derive(Default)]
pub(super) struct Painting {
    pub(super) softness: Option<Arc<[f32]>>,
    pub(super) colors: Colors,
    pub(super) uv: Option<Arc<[[f32; 2]]>>,
}

/// Reads what is painted, each accessor once.
#[derive(Default)]
pub(super) struct PaintingReader {
    softness: BTreeMap<usize, Arc<[f32]>>,
    colors: BTreeMap<usize, Arc<[[f32; 4]]>>,
    uv: BTreeMap<usize, Arc<[[f32; 2]]>>,
}

impl PaintingReader {
    /// Reads the painting of a primitive with its attributes.
    pub(super) fn read(
        &mut self,
        document: &DocumentReader,
        attributes: &Part,
        vertex_count: usize,
        findings: &mut Findings,
    ) -> Result<Painting, String> {
        let mut painting = Painting::default();
        if let Some(index) = attributes.index(SOFTNESS)? {
            painting.softness = Some(self.softness(document, index, vertex_count)?);
        }
        for set in 0..MAX_SETS {
            let Some(index) = attributes.index(&format!("COLOR_{set}"))? else { continue };
            let colors = read_list(&mut self.colors, document, index, vertex_count, &["VEC3", "VEC4"]);
            painting.colors.resize(set, None);
            painting.colors.push(noted(colors, "colours", findings));
        }
        if let Some(index) = attributes.index("TEXCOORD_0")? {
            let uv = read_list(&mut self.uv, document, index, vertex_count, &["VEC2"]);
            painting.uv = noted(uv, "texture coordinates", findings);
        }
        Ok(painting)
    }

    fn softness(
        &mut self,
        document: &DocumentReader,
        index: usize,
        vertex_count: usize,
    ) -> Result<Arc<[f32]>, String> {
        let mut lists = BTreeMap::new();
        if let Some(known) = self.softness.get(&index).filter(|known| known.len() == vertex_count) {
            return Ok(Arc::clone(known));
        }
        let read = read_list::<1>(&mut lists, document, index, vertex_count, &["SCALAR"])?;
        let softness: Arc<[f32]> = read.iter().map(|[value]| *value).collect();
        if let Some(vertex) = softness.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
            let value = softness[vertex];
            return Err(format!(
                "accessors[{index}]: vertex {vertex} has the softness {value}: paint it from 0, rigid, to 10"
            ));
        }
        self.softness.insert(index, Arc::clone(&softness));
        Ok(softness)
    }
}

/// A list, or nothing and a note.
fn noted<T: ?Sized>(read: Result<Arc<T>, String>, what: &str, findings: &mut Findings) -> Option<Arc<T>> {
    read.map_err(|message| findings.note(format!("{message}; these {what} are left out"))).ok()
}

/// One element of N numbers per vertex; numbers that an element does not have are 1.
fn read_list<const N: usize>(
    known: &mut BTreeMap<usize, Arc<[[f32; N]]>>,
    document: &DocumentReader,
    index: usize,
    vertex_count: usize,
    kinds: &[&str],
) -> Result<Arc<[[f32; N]]>, String> {
    if let Some(list) = known.get(&index).filter(|list| list.len() == vertex_count) {
        return Ok(Arc::clone(list));
    }
    let accessor = Accessor::find(document, index)?;
    let (path, count) = (&accessor.path, accessor.count);
    let fits = |kind: &&str| accessor.expect(kind, &NUMBERS, "what is painted").is_ok();
    if !kinds.iter().any(fits) {
        accessor.expect(kinds[0], &NUMBERS, "what is painted on vertices")?;
    }
    if count != vertex_count {
        return Err(format!(
            "{path} has {count} elements for {vertex_count} vertices: export the file again"
        ));
    }
    if accessor.filled_count() == 0 {
        return Err(format!("{path} has no bytes: export the file again without compression"));
    }
    // the list and the shared copy of it
    document.charge(count, 2 * size_of::<[f32; N]>(), path)?;
    // as it is stored, before normalisation
    let one = accessor.component.largest().filter(|_| accessor.normalized).unwrap_or(1.0);
    let element = |vertex: usize| {
        let mut numbers = [one; N];
        accessor.read(vertex, &mut numbers);
        numbers.map(|number| number as f32)
    };
    let list: Arc<[[f32; N]]> = (0..count).map(element).collect();
    known.insert(index, Arc::clone(&list));
    Ok(list)
}
