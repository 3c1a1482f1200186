/** "You are the rule", `#/game`: steer cwnd with keys beside a real rule; a link replays a game. */

import "../game/game.css";
import { useEffect, useState } from "preact/hooks";
import { gameOfQuery, newGame, OPPONENTS } from "../game/game";
import { Board } from "../game/board";
import { Play } from "../game/play";
import { route } from "../state/route";

/** A game that a link holds: it is run again, and so verified. */
function Replay() {
  const game = gameOfQuery(route.value.query);
  if (!game) return <p role="alert">This link does not hold a valid game.</p>;
  return (
    <>
      <p>
        This game was played against {game.opponent}. It has just been run again from its inputs, so
        the points and the trace hash are the simulator's. <a href="#/game">Play it yourself</a>
      </p>
      <Board game={game} isOver />
    </>
  );
}

/** Chosen before a game: the other flow's rule, and how fast time goes. */
function Setup({ onStart }: { onStart(opponent: string, speed: number): void }) {
  const [opponent, setOpponent] = useState("NewReno");
  const [speed, setSpeed] = useState(1);
  return (
    <form
      class="setup"
      onSubmit={(event) => {
        event.preventDefault();
        onStart(opponent, speed);
      }}
    >
      <label>
        Opponent{" "}
        <select value={opponent} onChange={(event) => setOpponent(event.currentTarget.value)}>
          {OPPONENTS.map((rule) => (
            <option>{rule}</option>
          ))}
        </select>
      </label>
      <label>
        Speed{" "}
        <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
          <option value={0.5}>half</option>
          <option value={1}>real time</option>
          <option value={2}>double</option>
        </select>
      </label>
      <button type="submit">Start</button>
    </form>
  );
}

function Rules() {
  return (
    <>
      <p>
        You share a link of 5 Mbit/s with one other flow for 30 seconds. You decide how many packets
        your sender may have in flight; the other flow follows its rule. About 20 packets fill the
        link, and about 20 more fit into its queue.
      </p>
      <ul>
        <li>
          <kbd>↑</kbd> one packet more, <kbd>↓</kbd> one less, <kbd>Space</kbd> half; or the
          buttons.
        </li>
        <li>
          Points = 100 × your goodput over a fair share × base RTT over your mean RTT × the part of
          its fair share that the other flow keeps. Each factor is at most 1.
        </li>
      </ul>
    </>
  );
}

export function GameView() {
  const [playing, setPlaying] = useState<{ opponent: string; speed: number; round: number }>();
  const isReplay = route.value.query.has("inputs");
  useEffect(() => setPlaying(undefined), [isReplay]);
  const start = (opponent: string, speed: number) =>
    setPlaying({ opponent, speed, round: (playing?.round ?? 0) + 1 });
  return (
    <main class="game">
      <h2>You are the rule</h2>
      {isReplay ? (
        <Replay />
      ) : (
        <>
          {!playing && <Rules />}
          {playing ? (
            <Play
              key={playing.round}
              first={newGame(playing.opponent)}
              speed={playing.speed}
              onAgain={() => setPlaying(undefined)}
            />
          ) : (
            <Setup onStart={start} />
          )}
        </>
      )}
    </main>
  );
}
