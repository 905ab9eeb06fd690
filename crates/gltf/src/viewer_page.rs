//! A page that shows GLB files in a browser: one HTML file with the files, the viewer and three.js in it.
//!
//! The page works from the disk, loads nothing from anywhere, and its content security policy forbids that it could. The parts in `viewer/` are
//! put together here; three.js is a bundle of its package (`viewer/three/README.md`, decision 016). Scripts of the page are read as they stand there.

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use serde_json::json;
use sinew_files::signature::PAGE_GENERATOR;
use std::io::{self, Write};

const PAGE: &str = include_str!("../viewer/page.html");
const STYLE: &str = include_str!("../viewer/style.css");
const THREE: &str = include_str!("../viewer/three/three.min.js");
/// The licence text must go wherever the bundle goes.
const THREE_LICENCE: &str = include_str!("../viewer/three/LICENSE");
/// The viewer, each part after those that it uses.
const SCRIPTS: [&str; 4] = [
    include_str!("../viewer/model.js"),
    include_str!("../viewer/cast.js"),
    include_str!("../viewer/drawing.js"),
    include_str!("../viewer/page.js"),
];

/// A page of the viewer.
#[derive(Clone, Debug)]
pub struct ViewerPage {
    /// Its title.
    pub title: String,
    /// What it shows, all at once.
    pub models: Vec<PageModel>,
}

/// A file in a page.
#[derive(Clone, Debug)]
pub struct PageModel {
    /// The file, a GLB that needs no other.
    pub glb: Vec<u8>,
    /// The file that is shown when flesh is switched off. Without it, morph targets and helper joints whose names begin with `flesh` are put to rest.
    pub skinning: Option<Vec<u8>>,
    /// The matrix that places it among the others, column by column; `None` leaves it where it is.
    pub placement: Option<[f64; 16]>,
}

impl PageModel {
    /// A file as it is.
    pub fn new(glb: Vec<u8>) -> PageModel {
        PageModel { glb, skinning: None, placement: None }
    }
}

impl ViewerPage {
    /// Writes the page.
    pub fn write(&self, mut page: impl Write) -> io::Result<()> {
        let mut rest = PAGE;
        while let Some((before, (name, after))) =
            rest.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
        {
            page.write_all(before.as_bytes())?;
            self.write_part(name, &mut page)?;
            rest = after;
        }
        page.write_all(rest.as_bytes())
    }

    /// Writes what stands for a name of the page's frame.
    fn write_part(&self, name: &str, page: &mut impl Write) -> io::Result<()> {
        match name {
            "generator" => write!(page, "{PAGE_GENERATOR}"),
            "title" => write!(page, "{}", escaped(&self.title)),
            "style" => write!(page, "{STYLE}"),
            "models" => self.write_models(page),
            "three" => write!(page, "/*\n{THREE_LICENCE}*/\n{THREE}"),
            "scripts" => SCRIPTS.iter().try_for_each(|script| writeln!(page, "{script}")),
            other => Err(io::Error::other(format!("the page has no part {other}"))),
        }
    }

    /// A list of all models, and their files in elements that are no scripts.
    fn write_models(&self, page: &mut impl Write) -> io::Result<()> {
        let entries: Vec<serde_json::Value> = self
            .models
            .iter()
            .enumerate()
            .map(|(index, model)| {
                let skinning = model.skinning.as_ref().map(|_| format!("skinning-{index}"));
                json!({ "glb": format!("glb-{index}"), "skinning": skinning, "matrix": model.placement })
            })
            .collect();
        let list = json!({ "models": entries });
        writeln!(page, "<script type=\"application/json\" id=\"models\">{list}</script>")?;
        for (index, model) in self.models.iter().enumerate() {
            write_file(page, &format!("glb-{index}"), &model.glb)?;
            if let Some(skinning) = &model.skinning {
                write_file(page, &format!("skinning-{index}"), skinning)?;
            }
        }
        Ok(())
    }
}

fn write_file(page: &mut impl Write, id: &str, bytes: &[u8]) -> io::Result<()> {
    write!(page, "<script type=\"model/gltf-binary;base64\" id=\"{id}\">")?;
    let mut encoder = EncoderWriter::new(&mut *page, &STANDARD);
    encoder.write_all(bytes)?;
    encoder.finish()?;
    drop(encoder);
    writeln!(page, "</script>")
}

/// A text as it may stand in elements and attributes of a page.
fn escaped(text: &str) -> String {
    let entity = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c if c.is_control() => " ".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(entity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;

    fn written(page: &ViewerPage) -> String {
        let mut bytes = Vec::new();
        page.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The text of an element.
    fn element<'a>(page: &'a str, id: &str) -> &'a str {
        let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn a_page_holds_its_files_and_where_they_stand() {
        let mut placement = [0.0; 16];
        placement[12] = 0.1;
        let placed = PageModel { skinning: Some(vec![7; 5]), placement: Some(placement), glb: vec![3; 100] };
        let page =
            written(&ViewerPage { title: "walk".into(), models: vec![placed, PageModel::new(vec![9; 4])] });
        for (id, bytes) in [("glb-0", vec![3; 100]), ("skinning-0", vec![7; 5]), ("glb-1", vec![9; 4])] {
            assert_eq!(STANDARD.decode(element(&page, id)).unwrap(), bytes, "{id}");
        }
        let list: serde_json::Value = serde_json::from_str(element(&page, "models")).unwrap();
        assert_eq!(list["models"][0]["matrix"][12], 0.1);
        assert_eq!(list["models"][1], json!({ "glb": "glb-1", "skinning": null, "matrix": null }));
    }

    #[test]
    fn a_title_cannot_break_out_of_its_element() {
        let page = written(&ViewerPage { title: "</title><script>\"&'\n".into(), models: Vec::new() });
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;' </title>"));
    }

    #[test]
    fn the_frame_has_no_part_without_a_text_and_needs_nothing_from_elsewhere() {
        let page = written(&ViewerPage { title: "walk".into(), models: Vec::new() });
        assert!(!STYLE.contains("url(") && !PAGE.contains("src=") && !PAGE.contains("href="));
        // every script ends where its element does
        assert!(!THREE.contains("</script") && SCRIPTS.iter().all(|script| !script.contains("</script")));
        assert!(!THREE_LICENCE.contains("*/") && page.contains("The MIT License"));
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    }

    /// Readers of the signature look at the first bytes only.
    #[test]
    fn the_signature_stands_at_the_start() {
        let page = written(&ViewerPage { title: "x".repeat(100_000), models: Vec::new() });
        assert!(page.find(PAGE_GENERATOR).unwrap() < 200);
    }
}
