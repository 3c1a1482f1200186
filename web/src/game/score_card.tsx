/** The score of a game, with what anybody needs to verify it. */

import { useState } from "preact/hooks";
import type { RunResult } from "../engine/protocol";
import { OnDisk, partOnDisk } from "../parts/on_disk";
import { gameQuery, score, type Game } from "./game";

interface ScoreCardProps {
  game: Game;
  result: RunResult;
  /** Two flows of the opponent's rule. */
  baseline: RunResult;
}

const percent = (value: number) => `${Math.round(100 * value)} %`;

/** A score card as text: points, their parts, the trace hash and the link that replays the game. */
function cardText({ game, result, baseline }: ScoreCardProps, link: string): string {
  const { points, goodput, delay, unharmed } = score(result, baseline);
  return [
    `You are the rule: ${points} points against ${game.opponent}`,
    `goodput ${percent(goodput)} of a fair share · delay ${percent(delay)} · opponent keeps ${percent(unharmed)}`,
    `trace hash ${result.trace_hash}`,
    // The path of this disk opens nothing elsewhere.
    partOnDisk(link) ?? link,
  ].join("\n");
}

export function ScoreCard(props: ScoreCardProps) {
  const { game, result, baseline } = props;
  const [copied, setCopied] = useState(false);
  const { points, goodput, delay, unharmed } = score(result, baseline);
  const rulePoints = score(baseline, baseline).points;
  const hash = `#/game?${gameQuery(game)}`;
  const link = location.href.replace(/#.*$/, "") + hash;
  const copy = async () => {
    await navigator.clipboard?.writeText(cardText(props, link));
    setCopied(true);
  };
  return (
    <section class="score" aria-label="Score">
      <p class="points">
        <strong>{points}</strong> points
      </p>
      <p>
        {percent(goodput)} of a fair share × {percent(delay)} (base RTT over your mean RTT) ×{" "}
        {percent(unharmed)} of its fair share left to {game.opponent}. In your place,{" "}
        {game.opponent} would have scored {rulePoints} points.
      </p>
      <p>
        Trace hash <code>{result.trace_hash}</code>: the same for everyone who opens{" "}
        <a href={hash}>this game's link</a>.{" "}
        <button type="button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy the score card"}
        </button>
      </p>
      <OnDisk link={link} />
    </section>
  );
}
