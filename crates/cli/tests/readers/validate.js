// Errors that the glTF validator finds in files, one line each; nothing when all is well.
const fs = require('fs');
const validator = require('gltf-validator');
(async () => {
  for (const file of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    for (const message of report.issues.messages.filter((message) => message.severity === 0)) {
      console.log(`${message.code} at ${message.pointer}: ${message.message}`);
    }
  }
})();
