/** The teacher's page: what each lesson takes, what to ask, where students go wrong. */

import "../lessons/lessons.css";
import { lessons, type Lesson } from "../lessons/lesson";
import { Inline } from "../lessons/prose";

function Items({ title, items }: { title: string; items: string[] }) {
  return (
    <div>
      <h4>{title}</h4>
      <ul>
        {items.map((item) => (
          <li>
            <Inline text={item} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Entry({ lesson, number }: { lesson: Lesson; number: number }) {
  const answers = lesson.steps.map(
    ({ title, predict }) => `${title}: ${predict.choices[predict.right - 1]}`,
  );
  return (
    <section>
      <h3>
        <a href={`#/lessons/${number}`}>
          {number}. {lesson.title}
        </a>{" "}
        <span class="minutes">{lesson.minutes} min</span>
      </h3>
      <div class="pair">
        <Items title="Ask" items={lesson.ask} />
        <Items title="Pitfalls" items={lesson.pitfalls} />
      </div>
      <details>
        <summary>Answers and solutions</summary>
        <div class="pair">
          <Items title="Predictions" items={answers} />
          <Items
            title="Questions"
            items={lesson.questions.map(({ ask, solution }) => `${ask} ${solution}`)}
          />
        </div>
      </details>
    </section>
  );
}

export function Teacher() {
  const minutes = lessons.reduce((sum, lesson) => sum + lesson.minutes, 0);
  return (
    <main class="teacher">
      <h2>For teachers</h2>
      <p>
        Twelve lessons, {minutes} minutes in all, best taken in order: later ones use terms that
        earlier ones introduce. There is nothing to install, and the page sends nothing: it works
        offline, even from a file share.
      </p>
      <ul>
        <li>
          Have everyone commit to a prediction before the run is shown; a show of hands works too. A
          wrong prediction is what makes the run interesting.
        </li>
        <li>
          The numbers in the table under a prediction are measured in the run that is shown. “Change
          this network in Build” opens it for experiments; the link under Share then holds the
          class's version.
        </li>
        <li>
          A link made from <code>studio.html</code> on a disk holds the path of that disk. Make it
          on a site, or press “Save …toml” under <a href="#/share">Share</a> and hand out that file:
          students drop it onto “Scenario as TOML” under <a href="#/build">Build</a>.
        </li>
        <li>
          <a href="#/game">You are the rule</a> takes ten minutes: everyone plays against the same
          opponent and hands in the score card. Opening its link runs the game again, so you can
          check points and trace hash, but not who played.
        </li>
      </ul>
      {lessons.map((lesson, index) => (
        <Entry lesson={lesson} number={index + 1} />
      ))}
    </main>
  );
}
