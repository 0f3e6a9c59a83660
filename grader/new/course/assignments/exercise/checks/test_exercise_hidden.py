"""Hidden checks of exercise.py. Students see their titles and verdicts, and never get this file.

What students could fit their code to belongs here: other sizes, extreme values.
"""

import torch

from grader.checks import Checks

asked = Checks("exercise")


@asked.check(points=2, hint="what does exp() give for 800, and what could be subtracted first?")
def test_large_scores_give_finite_probabilities(student, given):
    """Scores of thousands, the rows far apart: every probability is finite."""
    # Fixed numbers, since random ones are large by chance only: a verdict must not depend on the seed.
    rows = torch.tensor([[2000.0], [0.0], [-3000.0], [50.0]], dtype=torch.float64)
    student(rows + given.normal("scores", 4, 3), 1.0).matches()
    student(given.normal("one row", 1, 6), 0.5).matches()
