/** Controls of a dumbbell or of a link: rate, delay, queue, loss, ECN. */

import { at, textAt, withValue, type Path } from "../state/document";
import { parseRate, parseTime, rateText, short, spaced, timeText } from "../state/quantities";
import { edit, scenario, toml, write } from "../state/scenario";
import { Choice } from "./choice";
import { Slider } from "./slider";

export const QUEUES = ["drop-tail", "red", "codel", "fq-codel", "pie", "step", "drr"] as const;
const WITH_ECN = /^(red|rio|codel|fq-codel|pie)$/;

/** Sliders of buffers by unit: [least, most]. */
const BUFFERS: Record<string, [number, number]> = {
  bdp: [0.02, 10],
  pkt: [2, 2000],
  ms: [1, 1000],
  s: [0.001, 10],
  kB: [3, 5000],
  B: [3000, 5e6],
  MB: [0.003, 5],
};

interface Part {
  /** The table of the dumbbell or of a link. */
  path: Path;
}

function Buffer({ path }: Part) {
  const limitPath = [...path, "queue", "limit"];
  const text = textAt(scenario.value, limitPath, "1bdp");
  const [, number = "", unit = ""] = /^([\d.]+)([a-zA-Z]+)$/.exec(text) ?? [];
  const range = BUFFERS[unit];
  if (!range) return <p class="aside">Buffer: {text}</p>;
  return (
    <Slider
      label="Buffer"
      value={Number(number)}
      least={range[0]}
      most={range[1]}
      logarithmic
      text={spaced(text)}
      title="Size of the bottleneck's queue; 1 BDP is rate times round trip time"
      set={(value) =>
        edit(limitPath, `${/^(pkt|B)$/.test(unit) ? Math.round(value) : value}${unit}`)
      }
    />
  );
}

/** Shapes of the rate, made from the largest rate of the present one. */
function shaped(kind: string, bps: number): unknown {
  const [high, low] = [rateText(bps), rateText(bps / 2)];
  if (kind === "square") return { kind, high, low, every: "5s" };
  if (kind === "saw-tooth") return { kind, low, high, period: "10s" };
  return high;
}

function Rate({ path }: Part) {
  const ratePath = [...path, "rate"];
  const value = at(scenario.value, ratePath);
  const kind = textAt(scenario.value, [...ratePath, "kind"], "constant");
  const high = kind === "constant" ? value : at(scenario.value, [...ratePath, "high"]);
  const bps = parseRate(high);
  const set = (next: number) => {
    const text = rateText(next);
    if (kind === "constant") return edit(ratePath, text);
    // The ratio of the two rates stays.
    const low = parseRate(at(scenario.value, [...ratePath, "low"])) ?? next / 2;
    const ratio = low / (bps ?? next);
    const higher = withValue(toml.value, [...ratePath, "high"], text);
    write(withValue(higher, [...ratePath, "low"], rateText(next * ratio)));
  };
  return (
    <>
      {bps === null ? (
        <p class="aside">Rate: {kind}, in the text below</p>
      ) : (
        <Slider
          label={kind === "constant" ? "Rate" : "Highest rate"}
          value={bps}
          least={5e5}
          most={2e8}
          logarithmic
          text={spaced(rateText(bps))}
          title="Rate of the bottleneck"
          {...{ set }}
        />
      )}
      <Choice
        label="Rate over time"
        value={kind}
        options={["constant", "square", "saw-tooth"]}
        set={(next) => edit(ratePath, shaped(next, bps ?? 1e7))}
      />
    </>
  );
}

function Loss({ path }: Part) {
  const loss = at(scenario.value, [...path, "loss"]);
  const p = at(scenario.value, [...path, "loss", 0, "p"]);
  const isSimple =
    loss === undefined || (Array.isArray(loss) && loss.length === 1 && typeof p === "number");
  if (!isSimple) return <p class="aside">Random loss: in the text below</p>;
  const value = typeof p === "number" ? p : 0;
  return (
    <Slider
      label="Random loss"
      value={Math.sqrt(value)}
      least={0}
      most={Math.sqrt(0.1)}
      text={`${short(value * 100)} %`}
      title="Probability that a packet is lost independently of the queue"
      set={(root) => {
        const next = Number((root * root).toPrecision(2));
        edit([...path, "loss"], next < 1e-5 ? undefined : [{ kind: "bernoulli", p: next }]);
      }}
    />
  );
}

function Queue({ path }: Part) {
  const kind = textAt(scenario.value, [...path, "queue", "kind"], "drop-tail");
  const limit = textAt(scenario.value, [...path, "queue", "limit"], "1bdp");
  const ecn =
    at(scenario.value, ["tcp", "ecn"]) === true &&
    at(scenario.value, [...path, "queue", "ecn"]) === true;
  const setEcn = (on: boolean) => {
    const queue = withValue(toml.value, [...path, "queue", "ecn"], on || undefined);
    write(withValue(queue, ["tcp", "ecn"], on || undefined));
  };
  return (
    <>
      <Choice
        label="Queue"
        value={kind}
        options={QUEUES}
        title="Queue discipline of the bottleneck"
        set={(next) =>
          edit([...path, "queue"], {
            kind: next,
            limit,
            ...(ecn && WITH_ECN.test(next) ? { ecn } : {}),
          })
        }
      />
      {WITH_ECN.test(kind) && (
        <label class="check">
          <input
            type="checkbox"
            checked={ecn}
            onChange={(event) => setEcn(event.currentTarget.checked)}
          />
          ECN: mark instead of drop
        </label>
      )}
    </>
  );
}

function Controls({ path, title }: Part & { title: string }) {
  const delay = parseTime(at(scenario.value, [...path, "delay"]));
  // Of a dumbbell the round trip says more, of one link among others its own delay.
  const isWhole = path[0] === "dumbbell";
  const times = isWhole ? 2 : 1;
  return (
    <fieldset>
      <legend>{title}</legend>
      <Buffer path={path} />
      {delay !== null && (
        <Slider
          label={isWhole ? "Round trip time" : "Delay, one way"}
          value={delay * times}
          least={0.002}
          most={0.4}
          logarithmic
          text={spaced(timeText(delay * times))}
          title="Propagation delay, without queues and access links"
          set={(time) => edit([...path, "delay"], timeText(time / times))}
        />
      )}
      <Rate path={path} />
      <Queue path={path} />
      <Loss path={path} />
    </fieldset>
  );
}

export function NetworkControls() {
  if (at(scenario.value, ["dumbbell"]) !== undefined)
    return <Controls path={["dumbbell"]} title="Bottleneck" />;
  const links = at(scenario.value, ["links"]);
  if (!Array.isArray(links)) return null;
  return (
    <>
      {links.map((_, index) => {
        const named = (key: string) => textAt(scenario.value, ["links", index, key]);
        const title = named("name") || `${named("from")} to ${named("to")}`;
        return <Controls key={index} path={["links", index]} title={`Link ${title}`} />;
      })}
    </>
  );
}
