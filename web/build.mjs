// Builds the page into dist/: index.html and assets/, with the parts of JSROOT in files of their own.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What the page may weigh, compressed. */
const LIMIT = 2_000_000;

// What JSROOT needs in Node.js only, and its writer of PDF files, which the page does not offer.
const LEFT_OUT =
  /^(fs|zlib|http|https|canvas|tmp|xhr2|jsdom|mathjax|three(\/addons)?|@resvg\/resvg-js|@oneidentity\/zstd-js)$|\/(jspdf|svg2pdf)\.mjs$/;

const leaveOut = {
  name: "leave-out",
  setup(builder) {
    builder.onResolve({ filter: LEFT_OUT }, (args) => ({ path: args.path, namespace: "left-out" }));
    builder.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({
      contents: "export const jsPDF = undefined, svg2pdf = undefined; export default {};",
    }));
  },
};

// JSROOT makes programs of the text of functions. The page forbids that, and computes them itself.
const FUNCTIONS = /jsroot[\\/]modules[\\/]base[\\/]func\.mjs$/;
const formulas = {
  name: "formulas",
  setup(builder) {
    builder.onLoad({ filter: FUNCTIONS }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const parts = text.split("new Function(");
      if (parts.length < 2) throw new Error(`${path} makes no functions any more`);
      const from = JSON.stringify(resolve("src/object/formula.ts"));
      return { contents: `import { formula } from ${from};\n${parts.join("formula(")}`, resolveDir: dirname(path) };
    });
  },
};

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: { page: "src/main.tsx", style: "src/style.css" },
  outdir: "dist/assets",
  entryNames: "[name]",
  chunkNames: "part-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "eof",
  plugins: [leaveOut, formulas],
  logLevel: "warning",
});
await cp("src/index.html", "dist/index.html");
const licenses = ["preact", "jsroot"].map(
  (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`,
);
writeFileSync("dist/assets/licenses.txt", licenses.join("\n\n"));

let plain = 0;
let compressed = 0;
const first = new Set(["index.html", "page.js", "style.css"]);
let opening = 0;
for (const file of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  if (!file.isFile()) continue;
  const bytes = readFileSync(`${file.parentPath}/${file.name}`);
  const small = gzipSync(bytes, { level: 9 }).length;
  plain += bytes.length;
  compressed += small;
  if (first.has(file.name)) opening += small;
}
const kB = (bytes) => `${Math.round(bytes / 1000)} kB`;
console.log(`page: ${kB(compressed)} compressed (${kB(plain)}), of which ${kB(opening)} are loaded at once`);
if (compressed > LIMIT) throw new Error(`the page takes more than ${kB(LIMIT)}`);
