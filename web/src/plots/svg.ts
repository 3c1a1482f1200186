/** The plots of a run as one SVG document, for papers and slides. */

import type { Line } from "./time_plot";

/** One plot of the document. */
export interface Panel {
  title: string;
  unit: string;
  timesS: readonly number[];
  lines: Line[];
}

const WIDTH = 800;
const PANEL = 190;
const LEFT = 56;
const FOOT = 26;
const HEAD = 24;

/** Round numbers from 0 to a top, about five. */
function ticks(top: number): number[] {
  const step = 10 ** Math.floor(Math.log10(top / 4));
  const size = step * ([1, 2, 5, 10].find((factor) => top / (step * factor) <= 5) ?? 10);
  return Array.from({ length: Math.floor(top / size + 1e-9) + 1 }, (_, index) =>
    Number((index * size).toPrecision(6)),
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function panel({ title, unit, timesS, lines }: Panel, durationS: number, top: number): string {
  const values = lines.flatMap((line) => line.values);
  const highest = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0) * 1.05 || 1;
  const [bottom, height] = [top + PANEL - FOOT, PANEL - FOOT - HEAD];
  const x = (timeS: number) => (LEFT + (timeS / durationS) * (WIDTH - LEFT - 12)).toFixed(2);
  const y = (value: number) => (bottom - (value / highest) * height).toFixed(2);
  const path = (line: Line) =>
    line.values
      .map((value, index) => {
        if (value === null) return "";
        const isFirst = index === 0 || line.values[index - 1] == null;
        return `${isFirst ? "M" : "L"}${x(timesS[index] as number)} ${y(value)}`;
      })
      .join("");
  return [
    `<text x="${LEFT}" y="${top + 14}" font-weight="600">${escaped(title)} <tspan font-weight="400">[${escaped(unit)}]</tspan></text>`,
    ...ticks(highest).map(
      (value) =>
        `<path d="M${LEFT} ${y(value)}H${WIDTH - 12}" stroke="#e4e4e4"/><text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${value}</text>`,
    ),
    ...ticks(durationS).map(
      (timeS) => `<text x="${x(timeS)}" y="${bottom + 16}" text-anchor="middle">${timeS}</text>`,
    ),
    ...lines.map(
      (line) =>
        `<path d="${path(line)}" fill="none" stroke="${line.color}" stroke-width="1.3"${line.dash?.length ? ` stroke-dasharray="${line.dash.join(" ")}"` : ""}/>`,
    ),
  ].join("\n");
}

/** The document. Its last line says what was run. */
export function svgOf(panels: Panel[], durationS: number, caption: string): string {
  const height = panels.length * PANEL + 44;
  const names = panels[0]?.lines ?? [];
  const legend = names.map(
    ({ label, color }, index) =>
      `<path d="M${LEFT + index * 110} ${height - 30}h18" stroke="${color}" stroke-width="2"/><text x="${LEFT + 24 + index * 110}" y="${height - 26}">${escaped(label)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...panels.map((one, index) => panel(one, durationS, index * PANEL)),
    ...legend.slice(0, 6),
    `<text x="${LEFT}" y="${height - 8}" fill="#555">time [s]. ${escaped(caption)}</text>`,
    "</svg>",
  ].join("\n");
}

/** A document as PNG, with twice its size in pixels. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error("no PNG: the browser made none")),
    ),
  );
}
