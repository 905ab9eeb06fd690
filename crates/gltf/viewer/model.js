// A GLB of the page: its surfaces in the order of the file, its clips, and where its vertices are at any time.
class Model {
  // Reads the GLB in the element of an id. `matrix` places it in the scene (column-major), null leaves it where it is.
  static async load(id, matrix) {
    const loader = new three.GLTFLoader();
    loader.setMeshoptDecoder(three.MeshoptDecoder);
    const bytes = bytesOf(document.getElementById(id).textContent.trim());
    const gltf = await loader.parseAsync(bytes.buffer, "");
    return new Model(gltf, matrix);
  }

  constructor(gltf, matrix) {
    this.root = new three.Group();
    this.root.add(gltf.scene);
    if (matrix) {
      new three.Matrix4().fromArray(matrix).decompose(this.root.position, this.root.quaternion, this.root.scale);
    }
    this.clips = gltf.animations;
    this.mixer = new three.AnimationMixer(gltf.scene);
    this.action = null;
    this.surfaces = surfacesOf(gltf);
    this.bones = new Set(this.surfaces.flatMap((mesh) => mesh.skeleton?.bones ?? []));
    // flesh is known by the names of what was added to the file: morph targets, and joints at rest
    this.fleshTargets = this.surfaces.flatMap((mesh) => fleshTargetsOf(mesh));
    this.helpers = [...this.bones].filter((bone) => FLESH.test(bone.userData.name ?? bone.name)).map(atRest);
    for (const mesh of this.surfaces) {
      // the bounds of the rest pose say nothing about where a moving surface is
      mesh.frustumCulled = false;
      mesh.castShadow = true;
    }
  }

  // Whether flesh can be switched off within this file.
  get canDropFlesh() {
    return this.fleshTargets.length > 0 || this.helpers.length > 0;
  }

  // Plays a clip by its place in the file; all that no clip moves stands as the file has it.
  choose(index) {
    this.mixer.stopAllAction();
    const clip = this.clips[index];
    this.action = clip ? this.mixer.clipAction(clip).play() : null;
  }

  // Puts everything where it is at a time (s) of the chosen clip, with or without flesh.
  pose(time, withFlesh = true) {
    if (this.action) {
      this.action.time = Math.min(Math.max(time, 0), this.action.getClip().duration);
      this.mixer.update(0);
    }
    if (!withFlesh) {
      this.fleshTargets.forEach(({ mesh, index }) => { mesh.morphTargetInfluences[index] = 0; });
      this.helpers.forEach(({ bone, position, quaternion, scale }) => {
        bone.position.copy(position);
        bone.quaternion.copy(quaternion);
        bone.scale.copy(scale);
      });
    }
    this.root.updateMatrixWorld(true);
    this.surfaces.forEach((mesh) => mesh.skeleton?.update());
  }

  // The vertices of a surface in the world as they are posed, three numbers each; all of them unless some are named.
  positions(surface, vertices) {
    const mesh = this.surfaces[surface];
    const count = mesh.geometry.attributes.position.count;
    const wanted = vertices ?? Array.from({ length: count }, (_, vertex) => vertex);
    const place = new three.Vector3();
    return wanted.flatMap((vertex) => mesh.getVertexPosition(vertex, place).applyMatrix4(mesh.matrixWorld).toArray());
  }

  // Points that tell where the model is: up to `limit` vertices, spread over all surfaces.
  scattered(limit) {
    const counts = this.surfaces.map((mesh) => mesh.geometry.attributes.position.count);
    const stride = Math.max(1, Math.ceil(counts.reduce((all, count) => all + count, 0) / limit));
    return this.surfaces.flatMap((_, surface) => {
      const vertices = [];
      for (let vertex = 0; vertex < counts[surface]; vertex += stride) vertices.push(vertex);
      return this.positions(surface, vertices);
    });
  }
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Meshes by the node that shows them and the primitive they are, both counted as in the file.
function surfacesOf(gltf) {
  const found = [];
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    const primitive = gltf.parser.associations.get(object)?.primitives ?? 0;
    let node = object;
    while (node && gltf.parser.associations.get(node)?.nodes === undefined) node = node.parent;
    found.push({ object, node: gltf.parser.associations.get(node)?.nodes ?? 0, primitive });
  });
  found.sort((a, b) => a.node - b.node || a.primitive - b.primitive);
  return found.map(({ object }) => object);
}

// The names of morph targets and helper joints that flesh adds to a file.
const FLESH = /^flesh (helper )?\d+$/;

function fleshTargetsOf(mesh) {
  const names = Object.entries(mesh.morphTargetDictionary ?? {});
  return names.filter(([name]) => FLESH.test(name)).map(([, index]) => ({ mesh, index }));
}

// A helper joint with where it stands in its parent without flesh.
function atRest(bone) {
  return { bone, position: bone.position.clone(), quaternion: bone.quaternion.clone(), scale: bone.scale.clone() };
}

// Frames per second of a clip: those of the track with the most keys.
function rateOf(clip) {
  const times = clip.tracks.map((track) => track.times).reduce((a, b) => (b.length > a.length ? b : a), []);
  const span = times.length > 1 ? times[times.length - 1] - times[0] : 0;
  const rate = span > 0 ? (times.length - 1) / span : 30;
  const round = Math.round(rate);
  const isPlausible = rate >= 10 && rate <= 240;
  if (!isPlausible) return 30;
  return Math.abs(rate - round) < 0.02 * rate ? round : rate;
}
