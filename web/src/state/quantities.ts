/** Quantities as scenarios write them: a number and a unit. */

const RATES = { bit: 1, kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };
const TIMES = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60 };

function parseWith(units: Record<string, number>, value: unknown): number | null {
  if (typeof value === "number") return value;
  const match =
    typeof value === "string" ? /^\s*([\d.eE+-]+)\s*([A-Za-z/]+)\s*$/.exec(value) : null;
  const unit = match?.[2] === undefined ? undefined : units[match[2].replace(/(it)?\/s$/, "it")];
  const number = Number(match?.[1]);
  return unit !== undefined && Number.isFinite(number) ? number * unit : null;
}

/** bit/s; null where it is no rate. */
export function parseRate(value: unknown): number | null {
  return parseWith(RATES, value);
}

/** Seconds; null where it is no time. */
export function parseTime(value: unknown): number | null {
  return parseWith(TIMES, value);
}

/** With at most three significant digits, as "0.25", "12.5", "1500". */
export function short(value: number): string {
  return String(Number(value.toPrecision(value >= 1000 ? Math.ceil(Math.log10(value)) : 3)));
}

function format(
  units: Record<string, number>,
  names: string[],
  value: number,
  gap: string,
): string {
  const name =
    names.find((unit) => Math.abs(value) >= (units[unit] as number)) ?? (names.at(-1) as string);
  return `${short(value / (units[name] as number))}${gap}${name}`;
}

/** A rate as a scenario writes it, such as "10Mbit". */
export function rateText(bps: number): string {
  return format(RATES, ["Gbit", "Mbit", "kbit", "bit"], bps, "");
}

/** A time as a scenario writes it, such as "25ms". */
export function timeText(seconds: number): string {
  return seconds === 0 ? "0s" : format(TIMES, ["s", "ms", "us", "ns"], seconds, "");
}

/** The text of a quantity for readers: "10 Mbit/s", "25 ms". */
export function spaced(text: string): string {
  return text
    .replace(/([\d.])([A-Za-z])/, "$1 $2")
    .replace(/bit$/, "bit/s")
    .replace(/bdp$/, "BDP")
    .replace(/pkt$/, "packets");
}
