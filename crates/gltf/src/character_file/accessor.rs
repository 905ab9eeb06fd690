//! Accessors: arrays of numbers in buffers, with every range checked before the first number is read.
//!
//! An element is read in place, so looking at an accessor reserves nothing, whatever count it claims. Elements that a sparse
//! accessor replaces are found by bisection of its indices, which must increase.

use super::document_reader::{DocumentReader, Part};

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u64) -> Option<Component> {
        match code {
            5120 => Some(Component::I8),
            5121 => Some(Component::U8),
            5122 => Some(Component::I16),
            5123 => Some(Component::U16),
            5125 => Some(Component::U32),
            5126 => Some(Component::F32),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// The largest number of a whole kind; `None` for floats.
    pub(super) fn largest(self) -> Option<f64> {
        match self {
            Component::I8 => Some(127.0),
            Component::U8 => Some(255.0),
            Component::I16 => Some(32767.0),
            Component::U16 => Some(65535.0),
            Component::U32 => Some(4294967295.0),
            Component::F32 => None,
        }
    }

    /// The number that begins at the first byte.
    fn read(self, bytes: &[u8]) -> f64 {
        match self {
            Component::I8 => f64::from(bytes[0] as i8),
            Component::U8 => f64::from(bytes[0]),
            Component::I16 => f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            Component::U16 => f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Component::U32 => f64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            Component::F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        }
    }
}

/// Elements at equal distances; the bytes reach at least to the end of the last.
#[derive(Clone, Copy)]
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl<'a> Strided<'a> {
    fn element(&self, index: usize) -> &'a [u8] {
        &self.bytes[index * self.stride..]
    }
}

/// Elements that stand in for others.
struct Sparse<'a> {
    count: usize,
    index_component: Component,
    indices: Strided<'a>,
    values: Strided<'a>,
}

impl Sparse<'_> {
    fn index(&self, entry: usize) -> usize {
        self.index_component.read(self.indices.element(entry)) as usize
    }

    /// Which entry replaces an element.
    fn find(&self, element: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.index(middle).cmp(&element) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A checked accessor.
pub(super) struct Accessor<'a> {
    pub(super) path: String,
    pub(super) count: usize,
    pub(super) component: Component,
    pub(super) normalized: bool,
    pub(super) kind: &'a str,
    pub(super) width: usize,
    base: Option<Strided<'a>>,
    sparse: Option<Sparse<'a>>,
}

impl<'a> Accessor<'a> {
    /// Finds an accessor and checks all that it refers to.
    pub(super) fn find(document: &DocumentReader<'a>, index: usize) -> Result<Accessor<'a>, String> {
        // what its elements are
        let part = document.entry("accessors", index)?;
        let path = part.path.clone();
        let count = part.index("count")?.filter(|count| *count > 0);
        let count = count.ok_or_else(|| format!("{path}.count is not above 0: export the file again"))?;
        let component = component_of(&part)?;
        let kind = part.text("type").unwrap_or_default();
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" if component == Component::F32 => 16,
            _ => {
                return Err(format!(
                    "{path} is not of a type that holds vertices, matrices or keys: export the file again"
                ));
            }
        };

        // where they are
        let size = width * component.size();
        let base = match part.index("bufferView")? {
            Some(view) => Some(strided(document, &part, view, count, size)?),
            None => None,
        };
        let sparse = match part.get("sparse") {
            Some(sparse) => Some(sparse_of(document, &sparse, count, size)?),
            None => None,
        };
        Ok(Accessor {
            path,
            count,
            component,
            normalized: part.flag("normalized"),
            kind,
            width,
            base,
            sparse,
        })
    }

    /// Fails unless elements are of a type and their numbers of one of some kinds.
    pub(super) fn expect(&self, kind: &str, components: &[Component], what: &str) -> Result<(), String> {
        if self.kind == kind && components.contains(&self.component) {
            return Ok(());
        }
        let (found, component) = (self.kind, self.component);
        Err(format!(
            "{} holds {found} of {component:?}, which {what} cannot be: export the file again",
            self.path
        ))
    }

    /// Writes an element, whole numbers as they are stored.
    pub(super) fn read_raw(&self, index: usize, element: &mut [f64]) {
        let replaced =
            self.sparse.as_ref().and_then(|sparse| Some(sparse.values.element(sparse.find(index)?)));
        let Some(bytes) = replaced.or_else(|| self.base.map(|base| base.element(index))) else {
            element.fill(0.0);
            return;
        };
        let size = self.component.size();
        for (i, number) in element.iter_mut().enumerate().take(self.width) {
            *number = self.component.read(&bytes[i * size..]);
        }
    }

    /// Writes an element, whole numbers from −1 or 0 to 1 if the accessor is normalised:
    ///
    /// ```text
    /// f = max(c / c_max, −1)
    /// ```
    pub(super) fn read(&self, index: usize, element: &mut [f64]) {
        self.read_raw(index, element);
        if let (true, Some(largest)) = (self.normalized, self.component.largest()) {
            element.iter_mut().for_each(|number| *number = (*number / largest).max(-1.0));
        }
    }

    /// The elements that may differ from zero, in order.
    pub(super) fn filled(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match (&self.base, &self.sparse) {
            (Some(_), _) => Box::new(0..self.count),
            (None, Some(sparse)) => Box::new((0..sparse.count).map(|entry| sparse.index(entry))),
            (None, None) => Box::new(0..0),
        }
    }

    /// How many elements may differ from zero.
    pub(super) fn filled_count(&self) -> usize {
        match (&self.base, &self.sparse) {
            (Some(_), _) => self.count,
            (None, sparse) => sparse.as_ref().map_or(0, |sparse| sparse.count),
        }
    }
}

fn component_of(part: &Part) -> Result<Component, String> {
    let code = part.whole("componentType")?;
    code.and_then(Component::of)
        .ok_or_else(|| format!("{}.componentType is not one of glTF's: export the file again", part.path))
}

/// `count` elements of `size` bytes that `part` sees through a view of a buffer.
fn strided<'a>(
    document: &DocumentReader<'a>,
    part: &Part,
    view: usize,
    count: usize,
    size: usize,
) -> Result<Strided<'a>, String> {
    // the bytes of the view
    let view = document.entry("bufferViews", view)?;
    let bytes = document.view_bytes(&view)?;

    // the elements within them
    // some exporters write 0 for "close together"
    let stride = view.index("byteStride")?.filter(|stride| *stride > 0).unwrap_or(size);
    if stride < size {
        let path = &view.path;
        return Err(format!(
            "{path}.byteStride is {stride} and elements have {size} bytes: export the file again"
        ));
    }
    let offset = part.index("byteOffset")?.unwrap_or(0);
    let needed =
        (count - 1).checked_mul(stride).and_then(|n| n.checked_add(size)).and_then(|n| n.checked_add(offset));
    if needed.is_none_or(|needed| needed > bytes.len()) {
        let (path, has) = (&part.path, bytes.len());
        return Err(format!(
            "{path} wants {count} elements {stride} bytes apart from byte {offset} of {}, which has {has} bytes: export the \
             file again",
            view.path
        ));
    }
    Ok(Strided { bytes: &bytes[offset..], stride })
}

fn sparse_of<'a>(
    document: &DocumentReader<'a>,
    part: &Part<'a>,
    count: usize,
    size: usize,
) -> Result<Sparse<'a>, String> {
    // what is replaced
    let path = &part.path;
    let missing = |what: &str| format!("{path} has no {what}: export the file again");
    let replaced = part.index("count")?.filter(|replaced| (1..=count).contains(replaced));
    let replaced = replaced.ok_or_else(|| {
        format!("{path}.count is not from 1 to {count}, the count of all elements: export the file again")
    })?;
    let indices = part.get("indices").ok_or_else(|| missing("indices"))?;
    let values = part.get("values").ok_or_else(|| missing("values"))?;
    let index_component = component_of(&indices)?;
    if !matches!(index_component, Component::U8 | Component::U16 | Component::U32) {
        return Err(format!("{path}.indices are {index_component:?}: they must be whole numbers from 0"));
    }

    // where the replacements are
    let view =
        |part: &Part| part.index("bufferView")?.ok_or_else(|| format!("{} names no bufferView", part.path));
    let sparse = Sparse {
        count: replaced,
        index_component,
        indices: strided(document, &indices, view(&indices)?, replaced, index_component.size())?,
        values: strided(document, &values, view(&values)?, replaced, size)?,
    };
    let increase = (1..replaced).all(|entry| sparse.index(entry - 1) < sparse.index(entry));
    if !increase || sparse.index(replaced - 1) >= count {
        return Err(format!("{path}.indices do not increase from 0 to below {count}: export the file again"));
    }
    Ok(sparse)
}
