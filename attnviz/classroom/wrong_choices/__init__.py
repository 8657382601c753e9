"""The words on a wrong choice: the rule by which a learner comes to it.

A rule is told only where the choice follows from it in this run, so that what is said is true; of several rules the
first one is told. Nothing that is said names what is right, where more than two can be chosen.
"""
