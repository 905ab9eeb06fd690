"""Vertices of a mesh of a glTF file as Blender plays it, in the axes of glTF: one line of numbers for each frame asked for. The name * stands for all meshes, in the order of the file's nodes."""
import json
import struct
import sys
import bpy

path, name, fps, frames = sys.argv[1], sys.argv[2], int(sys.argv[3]), [float(frame) for frame in sys.argv[4:]]


def meshes():
    """The objects of all meshes, in the order of the nodes that show them in the JSON chunk of a GLB file."""
    with open(path, "rb") as file:
        length = struct.unpack("<5I", file.read(20))[3]
        document = json.loads(file.read(length))
    names = [document["meshes"][node["mesh"]]["name"] for node in document["nodes"] if "mesh" in node]
    return [next(shown for shown in bpy.data.objects if shown.type == "MESH" and shown.data.name == name) for name in names]


bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = fps
# vertices that the file has twice stay two, in its order
bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
objects = meshes() if name == "*" else [bpy.data.objects[name]]
for frame in frames:
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    places = []
    for shown in objects:
        shown = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places += [shown.matrix_world @ vertex.co for vertex in shown.to_mesh().vertices]
    print("frame", " ".join(f"{x!r} {z!r} {-y!r}" for x, y, z in places))
