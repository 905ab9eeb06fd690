// All models of the page as one: which clip they play, at what time, and which of their surfaces is shown.
class Cast {
  // `entries` are those of the page: an id and a matrix, and the id of the file without flesh where that is another one.
  static async load(entries) {
    const load = async ({ glb, skinning, matrix }) => ({
      flesh: await Model.load(glb, matrix),
      skinning: skinning ? await Model.load(skinning, matrix) : null,
    });
    return new Cast(await Promise.all(entries.map(load)));
  }

  constructor(members) {
    this.members = members;
    this.models = members.flatMap(({ flesh, skinning }) => (skinning ? [flesh, skinning] : [flesh]));
    this.clips = this.findClips();
    this.clip = 0;
    this.time = 0;
    this.choose(0);
  }

  // A single file lists its clips; of several files each plays its first, which is the take.
  findClips() {
    const files = this.members.map(({ flesh }) => flesh);
    const of = (clip, name) => ({ name, duration: clip.duration, rate: rateOf(clip) });
    if (files.length === 1) return files[0].clips.map((clip, index) => of(clip, clip.name || `clip ${index}`));
    const first = files.flatMap(({ clips }) => clips.slice(0, 1));
    const longest = first.reduce((a, b) => (a && a.duration >= b.duration ? a : b), null);
    return longest ? [of(longest, "take")] : [];
  }

  get canDropFlesh() {
    return this.members.some(({ flesh, skinning }) => skinning || flesh.canDropFlesh);
  }

  get duration() {
    return this.clips[this.clip]?.duration ?? 0;
  }

  get rate() {
    return this.clips[this.clip]?.rate ?? 30;
  }

  choose(clip) {
    this.clip = clip;
    const name = this.clips[clip]?.name;
    for (const { flesh, skinning } of this.members) {
      flesh.choose(clip);
      // the file without flesh may have its clips in another order
      const same = skinning?.clips.findIndex((other) => other.name === name) ?? -1;
      skinning?.choose(same >= 0 ? same : clip);
    }
  }

  // Poses all models at a time (s) and shows those that belong to the choice.
  pose(time, withFlesh) {
    this.time = time;
    for (const { flesh, skinning } of this.members) {
      const shown = withFlesh || !skinning ? flesh : skinning;
      flesh.root.visible = shown === flesh;
      if (skinning) skinning.root.visible = shown === skinning;
      shown.pose(time, withFlesh);
    }
  }

  // Where vertices are, for whoever wants to check: positions of a surface at a time (s) of a clip.
  sample(clip, time, { surface = 0, vertices = null, flesh = true, member = 0 } = {}) {
    const { clip: clipBefore, time: timeBefore } = this;
    const { flesh: withFlesh, skinning } = this.members[member];
    const model = flesh || !skinning ? withFlesh : skinning;
    if (clip !== clipBefore) this.choose(clip);
    model.pose(time, flesh);
    const positions = model.positions(surface, vertices);
    if (clip !== clipBefore) this.choose(clipBefore);
    model.pose(timeBefore, flesh);
    return positions;
  }

  // The boxes around everything at some times of the clip, and around all of them.
  extent(times = 9, limit = 400) {
    const boxes = [];
    for (let i = 0; i < times; i += 1) {
      this.pose((this.duration * i) / Math.max(times - 1, 1), true);
      const points = this.members.flatMap(({ flesh }) => flesh.scattered(limit));
      boxes.push(new three.Box3().setFromArray(points));
    }
    const whole = boxes.reduce((all, box) => all.union(box), new three.Box3());
    return { boxes, whole };
  }

  // The middle of everything as it is posed, from a few vertices.
  middle() {
    const points = this.members.flatMap(({ flesh, skinning }) =>
      (flesh.root.visible || !skinning ? flesh : skinning).scattered(48));
    return new three.Box3().setFromArray(points).getCenter(new three.Vector3());
  }

  counts() {
    const surfaces = this.members.flatMap(({ flesh }) => flesh.surfaces);
    const sum = (of) => surfaces.reduce((all, mesh) => all + of(mesh), 0);
    return {
      vertices: sum((mesh) => mesh.geometry.attributes.position.count),
      triangles: sum((mesh) => (mesh.geometry.index ?? mesh.geometry.attributes.position).count / 3),
      joints: this.members.reduce((all, { flesh }) => all + flesh.bones.size, 0),
      targets: Math.max(0, ...surfaces.map((mesh) => mesh.morphTargetInfluences?.length ?? 0)),
    };
  }
}
