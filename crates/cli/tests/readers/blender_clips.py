"""Vertices of all meshes of a GLB file as Blender plays every clip, in the axes of glTF: one line of numbers for each frame asked for, clip after clip."""
import json
import os
import sys
import tempfile
import bpy
from blender_glb import document_of, load, meshes, print_frame

path, fps, direction, frames = sys.argv[1], int(sys.argv[2]), sys.argv[3], [float(frame) for frame in sys.argv[4:]]
document, length = document_of(path)
PLACE = ("location", "rotation_quaternion", "scale")


def still_copy(folder):
    """The file without its clips: blanks take their room in the JSON chunk."""
    text = json.dumps({key: value for key, value in document.items() if key != "animations"}, separators=(",", ":"))
    still = os.path.join(folder, "still.glb")
    with open(path, "rb") as file, open(still, "wb") as copy:
        head = file.read(20)
        file.seek(20 + length)
        copy.write(head + text.encode().ljust(length) + file.read())
    return still


def animated():
    """What has actions: objects, and the shape keys of meshes."""
    keys = [mesh.shape_keys for mesh in bpy.data.meshes if mesh.shape_keys]
    return [thing for thing in [*bpy.data.objects, *keys] if thing.animation_data]


def bones():
    """All bones, by their names and those of their armatures."""
    armatures = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    return {(armature.name, bone.name): bone for armature in armatures for bone in armature.pose.bones}


def places(things):
    return {name: [getattr(thing, part).copy() for part in PLACE] for name, thing in things.items()}


def put(thing, place):
    for part, value in zip(PLACE, place):
        setattr(thing, part, value)


def play(clip):
    """Gives everything its action of a clip. What has no keys in it stands as in the file without clips: the importer leaves it where the first clip has it, and another clip where the last one had it."""
    for thing in animated():
        thing.animation_data.action = None
        if isinstance(thing, bpy.types.Object):
            put(thing, still_objects[thing.name])
    for name, bone in bones().items():
        put(bone, still_bones[name])
    for thing in animated():
        for track in thing.animation_data.nla_tracks:
            if track.name == clip:
                thing.animation_data.action = track.strips[0].action
                thing.animation_data.action_slot = track.strips[0].action_slot


with tempfile.TemporaryDirectory() as folder:
    load(still_copy(folder), fps, direction)
still_objects, still_bones = places(dict(bpy.data.objects.items())), places(bones())
load(path, fps, direction)
objects = meshes(document)
for index, animation in enumerate(document["animations"]):
    play(animation.get("name") or f"Anim_{index}")
    for frame in frames:
        print_frame(objects, frame)
