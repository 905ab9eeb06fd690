"""Vertices of a mesh of a glTF file as Blender plays it, in the axes of glTF: one line of numbers for each frame asked for."""
import sys
import bpy

path, name, fps, frames = sys.argv[1], sys.argv[2], int(sys.argv[3]), [int(frame) for frame in sys.argv[4:]]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = fps
# vertices that the file has twice stay two, in its order
bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
for frame in frames:
    bpy.context.scene.frame_set(frame)
    shown = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = [shown.matrix_world @ vertex.co for vertex in shown.to_mesh().vertices]
    print("frame", " ".join(f"{x!r} {z!r} {-y!r}" for x, y, z in places))
