/** The page: its views by address, and a run that is always there. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { START } from "./state/examples";
import { keepHistory } from "./state/history";
import { route } from "./state/route";
import { keepRunning } from "./state/runs";
import { keepAddress } from "./state/share";
import { DamagedLink } from "./parts/damaged_link";
import { Footer, Header } from "./parts/frame";
import { Build } from "./views/build";
import { GameView } from "./views/game";
import { Lessons } from "./views/lessons";
import { Look } from "./views/look";
import { Compare } from "./views/compare";
import { Share } from "./views/share";
import { Teacher } from "./views/teacher";
import type { ComponentType } from "preact";

/** Views by the first word of the address. */
const VIEWS: Record<string, ComponentType> = {
  build: Build,
  look: Look,
  compare: Compare,
  share: Share,
  lessons: Lessons,
  game: GameView,
  teacher: Teacher,
};

/** Views with runs of their own: the foot of the page would tell of another one. */
const OWN_RUNS = ["lessons", "game", "teacher"];

function Page() {
  const { view } = route.value;
  const View = VIEWS[view] ?? Build;
  return (
    <>
      <Header />
      <DamagedLink />
      <View />
      {!OWN_RUNS.includes(view) && <Footer />}
    </>
  );
}

void keepAddress(START).then(() => {
  keepHistory();
  keepRunning();
});
render(<Page />, document.getElementById("page") as HTMLElement);
