//! Reads Alembic archives (Ogawa) as far as takes need them, from the layout alone; panics on what does not fit it.

/// An archive.
pub(crate) struct Archive {
    pub(crate) description: String,
    /// Number of samples, seconds per sample, time of the first (s).
    pub(crate) samplings: Vec<(u32, f64, f64)>,
    pub(crate) top: Node,
}

/// An object.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) metadata: String,
    pub(crate) children: Vec<Node>,
    /// All properties that are no compounds, also those within compounds.
    pub(crate) properties: Vec<Samples>,
}

/// A scalar or array property.
pub(crate) struct Samples {
    pub(crate) name: String,
    pub(crate) metadata: String,
    pub(crate) pod: u32,
    pub(crate) extent: u32,
    pub(crate) count: u32,
    pub(crate) sampling: u32,
    pub(crate) digests: Vec<[u8; 16]>,
    stored: Vec<Vec<u8>>,
}

/// Bytes and a place in them.
struct Cursor<'a>(&'a [u8]);

/// A child of a group.
enum Child {
    Group(Vec<u64>),
    Data(Vec<u8>),
}

struct Reader {
    bytes: Vec<u8>,
    metadata: Vec<String>,
}

impl Archive {
    pub(crate) fn read(bytes: Vec<u8>) -> Archive {
        assert_eq!(bytes[..8], *b"Ogawa\xff\0\x01");
        let root = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
        let mut reader = Reader { bytes, metadata: vec![String::new()] };
        let root = reader.group(root);
        assert_eq!(root.len(), 6);
        assert_eq!(reader.data(root[0]), 0_i32.to_le_bytes());
        let description = String::from_utf8(reader.data(root[3])).unwrap();

        // times
        let times = reader.data(root[4]);
        let (mut cursor, mut samplings) = (Cursor(&times), Vec::new());
        while !cursor.0.is_empty() {
            let (count, cycle) = (cursor.word(), cursor.double());
            assert_eq!(cursor.word(), 1);
            samplings.push((count, cycle, cursor.double()));
        }

        // metadata, then all that refers to it
        let table = reader.data(root[5]);
        let mut cursor = Cursor(&table);
        while !cursor.0.is_empty() {
            let length = cursor.byte() as usize;
            reader.metadata.push(String::from_utf8(cursor.take(length).to_vec()).unwrap());
        }
        let top = reader.object(root[2], "ABC".into(), String::new());
        Archive { description, samplings, top }
    }
}

impl Node {
    pub(crate) fn child(&self, name: &str) -> &Node {
        self.children.iter().find(|child| child.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(crate) fn property(&self, name: &str) -> &Samples {
        self.properties.iter().find(|property| property.name == name).unwrap_or_else(|| panic!("no {name}"))
    }
}

impl Samples {
    /// The bytes of a frame; one sample stands for all.
    pub(crate) fn sample(&self, frame: usize) -> &[u8] {
        &self.stored[frame.min(self.stored.len() - 1)]
    }
}

impl Reader {
    fn child(&self, position: u64) -> Child {
        let place = (position & !(1 << 63)) as usize;
        let is_data = position >> 63 == 1;
        if place == 0 {
            return if is_data { Child::Data(Vec::new()) } else { Child::Group(Vec::new()) };
        }
        let count = u64::from_le_bytes(self.bytes[place..place + 8].try_into().unwrap()) as usize;
        let rest = &self.bytes[place + 8..];
        if is_data {
            return Child::Data(rest[..count].to_vec());
        }
        let positions = rest[..8 * count].as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        Child::Group(positions.collect())
    }

    fn group(&self, position: u64) -> Vec<u64> {
        match self.child(position) {
            Child::Group(children) => children,
            Child::Data(_) => panic!("data in place of a group"),
        }
    }

    fn data(&self, position: u64) -> Vec<u8> {
        match self.child(position) {
            Child::Data(bytes) => bytes,
            Child::Group(_) => panic!("a group in place of data"),
        }
    }

    fn object(&self, position: u64, name: String, metadata: String) -> Node {
        // first its properties, last the headers of its children with two hashes
        let group = self.group(position);
        let mut properties = Vec::new();
        self.compound(group[0], &mut properties);
        let headers = self.data(group[group.len() - 1]);
        let mut cursor = Cursor(&headers[..headers.len() - 32]);
        let mut children = Vec::new();
        for child in &group[1..group.len() - 1] {
            let (name, metadata) = (cursor.text(), self.metadata[cursor.byte() as usize].clone());
            children.push(self.object(*child, name, metadata));
        }
        assert!(cursor.0.is_empty());
        Node { name, metadata, children, properties }
    }

    fn compound(&self, position: u64, properties: &mut Vec<Samples>) {
        let group = self.group(position);
        let Some((headers, members)) = group.split_last() else { return };
        let headers = self.data(*headers);
        let mut cursor = Cursor(&headers);
        for member in members {
            let bits = cursor.word();
            assert_eq!(bits >> 2 & 3, 2, "numbers are words");
            let kind = bits & 3;
            let count = if kind == 0 { 0 } else { cursor.word() };
            assert_eq!(bits >> 9 & 1, 0);
            let sampling = if bits >> 8 & 1 == 1 { cursor.word() } else { 0 };
            let (name, metadata) = (cursor.text(), self.metadata[(bits >> 20 & 0xff) as usize].clone());
            if kind == 0 {
                self.compound(*member, properties);
                continue;
            }
            assert_eq!(bits >> 11 & 1 == 1, count < 2, "one sample stands for all");
            let (pod, extent) = (bits >> 4 & 15, bits >> 12 & 0xff);
            let children = self.group(*member);
            let width = kind as usize;
            assert_eq!(children.len(), width * count as usize);
            let samples = children.chunks(width).map(|sample| {
                // no dimensions: one, of the size that the bytes tell
                assert!(sample[1..].iter().all(|dimensions| self.data(*dimensions).is_empty()));
                self.data(sample[0])
            });
            let (digests, stored) =
                samples.map(|bytes| (*bytes.first_chunk::<16>().unwrap(), bytes[16..].to_vec())).unzip();
            properties.push(Samples { name, metadata, pod, extent, count, sampling, digests, stored });
        }
        assert!(cursor.0.is_empty());
    }
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn double(&mut self) -> f64 {
        f64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let length = self.word() as usize;
        String::from_utf8(self.take(length).to_vec()).unwrap()
    }
}
